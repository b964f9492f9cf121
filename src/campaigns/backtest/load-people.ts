/** Loads the data of the contacts of a backtest from Postgres. */
import { loadMessageKey } from '../../messages/message-key.ts'
import { findSuppressedAt } from '../../messages/suppressions/find-suppressed-at.ts'
import type { CountedSend } from '../../rules/campaigns/follow-enrolment.ts'
import type { Channel } from '../../rules/events/facts.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import { ADDRESS_CHANNELS, type AddressChannel } from '../../rules/messages/suppression.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Plan } from './plan-backtest.ts'

/** Instants are epoch milliseconds. */
export interface PastPerson {
  contactId: string
  /** Includes the contacts that were merged into it. */
  ids: string[]
  zone: string | null
  /** Present addresses, the primary one first. */
  emails: string[]
  phones: string[]
  /** Whether a browser of the contact accepts push messages today. Null: not needed. */
  hasPush: boolean | null
  /** Oldest first. */
  choices: { channel: Channel; subscribed: boolean; at: number }[]
  /** Of topics, oldest first. Null: the business has none. */
  topicChoices: { topic: string; channel: Channel; subscribed: boolean; at: number }[] | null
  /** Messages of other campaigns. */
  sent: CountedSend[]
  /** By channel: since when all addresses for it are suppressed. */
  suppressedAt: ReadonlyMap<MessageChannel, number>
}

type PersonRow = Omit<PastPerson, 'suppressedAt'>

/** Returns the contacts that still exist, by id. */
export async function loadPeople(sql: Sql, plan: Plan, contactIds: readonly string[]): Promise<PastPerson[]> {
  const { business, campaign, channels, capWindow, from } = plan
  const rows = await sql<PersonRow[]>`
    select c.id as "contactId", c.timezone as zone,
      to_json(c.id || array(select m.id from contacts m where m.business_id = c.business_id and m.merged_into = c.id)) as ids,
      (select coalesce(json_agg(i.value order by i.proven desc, i.is_primary desc, i.position), '[]') from identities i
        where i.business_id = c.business_id and i.contact_id = c.id and i.kind = 'email' and (i.proven or not c.keyed)
      ) as emails,
      (select coalesce(json_agg(i.value order by i.proven desc, i.is_primary desc, i.position), '[]') from identities i
        where i.business_id = c.business_id and i.contact_id = c.id and i.kind = 'phone' and i.phone_read
          and (i.proven or not c.keyed)) as phones,
      case when ${channels.includes('push')} and exists (
          select from channels h where h.business_id = c.business_id and h.channel = 'push' and h.provider = 'webpush'
        ) then exists (select from find_push_subscriptions(c.business_id, c.id)) end as "hasPush",
      (select coalesce(json_agg(json_build_object('channel', h.channel, 'subscribed', h.subscribed, 'at', h.recorded_at)
          order by h.recorded_at, h.id), '[]')
        from consent_history h where h.business_id = c.business_id and h.contact_id = c.id) as choices,
      case when ${plan.definitions.topics.size > 0} then (
        select coalesce(json_agg(json_build_object('topic', h.topic, 'channel', h.channel, 'subscribed', h.subscribed,
          'at', h.recorded_at) order by h.recorded_at, h.id), '[]')
        from topic_history h where h.business_id = c.business_id and h.contact_id = c.id
      ) end as "topicChoices",
      case when ${capWindow === 0} then '[]' else (
        select coalesce(json_agg(json_build_object('channel', m.channel, 'at', m.claimed_at)), '[]')
        from messages m
        where m.business_id = c.business_id and m.contact_id = c.id and m.campaign_id <> ${campaign.campaignId}
          and m.channel = any (${`{${channels.join(',')}}`}::text::text[]) and m.claimed_at > ${from - capWindow}
          and m.state not in ('failed', 'skipped')
      ) end as sent
    from contacts c
    where c.business_id = ${business.id} and c.merged_into is null and c.id = any (${`{${contactIds.join(',')}}`}::text::uuid[])
    order by c.id`
  const suppressed = await readSuppressed(sql, plan, rows)
  return rows.map((row) => ({ ...row, suppressedAt: suppressed.get(row.contactId) ?? new Map() }))
}

async function readSuppressed(
  sql: Sql,
  { business, channels }: Plan,
  rows: readonly PersonRow[],
): Promise<ReadonlyMap<string, ReadonlyMap<MessageChannel, number>>> {
  const asked = rows.flatMap((row) =>
    ADDRESS_CHANNELS.filter((channel) => channels.includes(channel)).flatMap((channel) =>
      addressesOf(row, channel).map((address) => {
        return { contactId: row.contactId, businessId: business.id, channel, address }
      }),
    ),
  )
  const since = await findSuppressedAt(sql, await loadMessageKey(sql), asked)
  const suppressed = new Map<string, Map<MessageChannel, number>>()
  for (const [place, { contactId, channel }] of asked.entries()) {
    const known = suppressed.get(contactId) ?? new Map<MessageChannel, number>()
    // The last address that was suppressed decides.
    known.set(channel, Math.max(since[place] ?? Infinity, known.get(channel) ?? -Infinity))
    suppressed.set(contactId, known)
  }
  return suppressed
}

const addressesOf = ({ emails, phones }: Pick<PastPerson, 'emails' | 'phones'>, channel: AddressChannel): string[] =>
  channel === 'email' ? emails : phones

/** Null: the contact has none. Undefined: the channel has no addresses. */
export function addressOf(
  person: Pick<PastPerson, 'emails' | 'phones' | 'hasPush' | 'contactId'>,
  channel: MessageChannel,
): string | null | undefined {
  const { hasPush, contactId } = person
  if (channel === 'push' && hasPush !== null) return hasPush ? contactId : null
  const own = ADDRESS_CHANNELS.find((one) => one === channel)
  return own && (addressesOf(person, own)[0] ?? null)
}
