import { arrayLiteral, type Cell } from '../../../stores/write-columns.ts'
import { longestWindow } from '../../../rules/campaigns/caps.ts'
import type { SendRules } from '../../../rules/campaigns/messaging.ts'
import type { Channel } from '../../../rules/events/facts.ts'
import { chooseAddress } from '../../../rules/messages/choose-address.ts'
import type { MessageChannel } from '../../../rules/messages/message-channel.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import type { CampaignStatus } from '../../campaign.ts'
import type { DueRow } from './lock-due.ts'
import { type AddressRow, ADDRESSES } from '../send/load-message-facts.ts'
import type { Version } from './version-cache.ts'

/**
 * The facts by which a move is decided. They are read by a separate statement after the contact was locked, so that
 * they include every save that was answered.
 */
export interface MoveFacts {
  enrolmentId: string
  contactId: string
  state: string
  enrolledAt: number
  status: CampaignStatus
  goal: string | null
  /** The last time of a goal whose events meet conditions, for the key of the enrolment. */
  goalTime: number | null
  hasGoalConditions: boolean
  /** Null: the campaign enrols once for each contact. `keyPath`: the path of the key in trigger events. */
  key: string | null
  keyPath: string | null
  zone: string | null
  businessZone: string
  /** First and last time of the goal and of the awaited events, by name. */
  times: Record<string, [firstAt: number, lastAt: number]>
  subscriptions: Partial<Record<Channel, { subscribed: boolean; at: number; method: string }>>
  /**
   * The primary one first. For a contact with a keyed call, an email that only a page has sent is left out, because it
   * may be a stranger's. The same holds for `phones`.
   */
  emails: string[]
  phones: string[]
  /** Whether a browser of the contact accepts push messages. Null: not needed. */
  hasPush: boolean | null
  /** Messages that count for caps. */
  sends: [MessageChannel, claimedAt: number][]
  /** For this step. */
  message: { id: string; state: string; claimedAt: number } | null
}

export type VersionedRow = DueRow & { of: Version; rules: SendRules }

export async function readMoveFacts(
  tx: Queryable,
  rows: readonly VersionedRow[],
  now: number,
): Promise<ReadonlyMap<string, MoveFacts>> {
  const column = (of: (row: VersionedRow) => Cell) => arrayLiteral(rows.map(of))
  const found = await tx<FoundFacts[]>`
    select x.enrolment_id as "enrolmentId", x.contact_id as "contactId", e.state, e.enrolled_at as "enrolledAt", k.status, k.goal_event as goal,
      e.key, k.enrol_per as "keyPath", k.goal_where is not null or k.goal_key is not null as "hasGoalConditions",
      case when k.goal_where is not null or k.goal_key is not null then (
        select t.last_at from goal_times t
        where t.business_id = x.business_id and t.contact_id = x.contact_id and t.campaign_id = x.campaign_id
          and t.key = case when k.goal_key is null then '' else e.key end
      ) end as "goalTime",
      c.timezone as zone, b.timezone as "businessZone",
      case when k.goal_event is null and x.awaited = '{}' then '{}' else (
        select coalesce(json_object_agg(s.event, json_build_array(s.first_at, s.last_at)), '{}')
        from event_statistics s
        where s.business_id = x.business_id and s.contact_id = x.contact_id
          and s.event = any ((x.awaited::text[] || k.goal_event) collate "C")
      ) end as times,
      (select coalesce(json_object_agg(s.channel, json_build_object('subscribed', s.subscribed, 'at', s.recorded_at,
          'method', s.method)), '{}')
        from subscriptions s where s.business_id = x.business_id and s.contact_id = x.contact_id) as subscriptions,
      ${tx.unsafe(ADDRESSES)} as addresses,
      case when x.pushes and exists (
          select from channels h where h.business_id = x.business_id and h.channel = 'push' and h.provider = 'webpush'
        ) then exists (select from find_push_subscriptions(x.business_id, x.contact_id)) end as "hasPush",
      case when x.since is null then '[]' else (
        select coalesce(json_agg(json_build_array(m.channel, m.claimed_at)), '[]')
        from messages m
        where m.business_id = x.business_id and m.contact_id = x.contact_id and m.claimed_at > x.since
          and m.state not in ('failed', 'skipped') and m.enrolment_id is not null and m.id is distinct from x.own_message_id
      ) end as sends,
      (select json_build_object('id', m.id, 'state', m.state, 'claimedAt', m.claimed_at)
        from messages m
        where m.business_id = x.business_id and m.enrolment_id = x.enrolment_id and m.step = x.step) as message
    from unnest(
      ${column((row) => row.businessId)}::text::uuid[], ${column((row) => row.enrolmentId)}::text::uuid[],
      ${column((row) => row.contactId)}::text::uuid[], ${column((row) => row.campaignId)}::text::uuid[],
      ${column((row) => row.step)}::text::text[], ${column(ownMessage)}::text::uuid[],
      ${column(({ of }) => arrayLiteral([...of.awaited]))}::text::text[],
      ${column(({ of }) => of.channels.includes('push'))}::text::boolean[],
      ${column(({ of, rules }) => countedSince(of, rules, now))}::text::bigint[]
    ) as x (business_id, enrolment_id, contact_id, campaign_id, step, own_message_id, awaited, pushes, since)
    join enrolments e on e.business_id = x.business_id and e.contact_id = x.contact_id and e.id = x.enrolment_id
    join contacts c on c.business_id = x.business_id and c.id = x.contact_id
    join campaigns k on k.business_id = x.business_id and k.id = x.campaign_id
    join businesses b on b.id = x.business_id`
  return new Map(found.map((row) => [row.enrolmentId, moveFacts(row)]))
}

/**
 * A message that is tried again does not count against itself. A message whose worker died stays, and counts for the
 * next step.
 */
const ownMessage = ({ claim, messageId }: DueRow): string | null => (claim === null ? messageId : null)

interface FoundFacts extends Omit<MoveFacts, 'emails' | 'phones'> {
  addresses: AddressRow[]
}

function moveFacts({ addresses, ...facts }: FoundFacts): MoveFacts {
  const emails = addresses.flatMap(({ kind, value }) => (kind === 'email' ? [value] : []))
  const phones = addresses.flatMap(({ kind, value, read }) => (kind === 'phone' && read ? [value] : []))
  return { ...facts, emails, phones }
}

/** Null: no cap limits the messages of the campaign. */
function countedSince({ channels }: Version, { caps }: SendRules, now: number): number | null {
  const longest = Math.max(0, ...channels.map((channel) => longestWindow(caps, channel)))
  return longest === 0 ? null : now - longest
}

/**
 * The address for messages of the channel: a suppressed one gives way to the next. Null: the contact has none.
 * Undefined: the channel has no addresses.
 */
export function addressOf(
  channel: MessageChannel,
  { emails, phones, hasPush, contactId }: Pick<MoveFacts, 'emails' | 'phones' | 'hasPush' | 'contactId'>,
  isSuppressed: (address: string) => boolean,
): string | null | undefined {
  if (channel === 'email') return chooseAddress(emails, isSuppressed)
  if (channel === 'push' && hasPush !== null) return hasPush ? contactId : null
  if (channel !== 'sms' && channel !== 'whatsapp') return undefined
  const phone = chooseAddress(phones, isSuppressed)
  return phone === null ? null : `+${phone}`
}
