/** Loads the data of the contacts of a backtest from Postgres. */
import { loadMessageKey } from '../../messages/message-key.ts'
import { findSuppressedAt } from '../../messages/suppressions/find-suppressed-at.ts'
import type { CountedSend } from '../../rules/campaigns/follow-enrolment.ts'
import type { Channel } from '../../rules/events/facts.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import { ADDRESS_CHANNELS } from '../../rules/messages/suppression.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Plan } from './plan-backtest.ts'

/** Instants are epoch milliseconds. */
export interface PastPerson {
  contactId: string
  /** Includes the contacts that were merged into it. */
  ids: string[]
  zone: string | null
  /** Present addresses. Null: messages have no such address. */
  email: string | null
  phone: string | null
  /** Whether a browser of the contact accepts push messages today. Null: not needed. */
  hasPush: boolean | null
  /** Oldest first. */
  choices: { channel: Channel; subscribed: boolean; at: number }[]
  /** Messages of other campaigns. */
  sent: CountedSend[]
  /** By the channel of the address: since when it is suppressed. */
  suppressedAt: ReadonlyMap<MessageChannel, number>
}

type PersonRow = Omit<PastPerson, 'suppressedAt'>

/** Returns the contacts that still exist, by id. */
export async function loadPeople(sql: Sql, plan: Plan, contactIds: readonly string[]): Promise<PastPerson[]> {
  const { business, campaign, channels, capWindow, from } = plan
  const rows = await sql<PersonRow[]>`
    select c.id as "contactId", c.timezone as zone,
      to_json(c.id || array(select m.id from contacts m where m.business_id = c.business_id and m.merged_into = c.id)) as ids,
      (select i.value from identities i
        where i.business_id = c.business_id and i.contact_id = c.id and i.kind = 'email' and (i.proven or not c.keyed)
        order by i.proven desc, i.position limit 1) as email,
      (select i.value from identities i
        where i.business_id = c.business_id and i.contact_id = c.id and i.kind = 'phone' and i.phone_read
          and (i.proven or not c.keyed)
        order by i.proven desc, i.position limit 1) as phone,
      case when ${channels.includes('push')} and exists (
          select from channels h where h.business_id = c.business_id and h.channel = 'push' and h.provider = 'webpush'
        ) then exists (select from find_push_subscriptions(c.business_id, c.id)) end as "hasPush",
      (select coalesce(json_agg(json_build_object('channel', h.channel, 'subscribed', h.subscribed, 'at', h.recorded_at)
          order by h.recorded_at, h.id), '[]')
        from consent_history h where h.business_id = c.business_id and h.contact_id = c.id) as choices,
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
    ADDRESS_CHANNELS.flatMap((channel) => {
      const address = channels.includes(channel) ? addressOf(row, channel) : null
      return typeof address === 'string'
        ? [{ contactId: row.contactId, businessId: business.id, channel, address }]
        : []
    }),
  )
  const since = await findSuppressedAt(sql, await loadMessageKey(sql), asked)
  const suppressed = new Map<string, Map<MessageChannel, number>>()
  for (const [place, { contactId, channel }] of asked.entries()) {
    const at = since[place]
    if (typeof at !== 'number') continue
    const known = suppressed.get(contactId)
    if (known) known.set(channel, at)
    else suppressed.set(contactId, new Map([[channel, at]]))
  }
  return suppressed
}

/** Null: the contact has none. Undefined: the channel has no addresses. */
export function addressOf(
  { email, phone, hasPush, contactId }: Pick<PastPerson, 'email' | 'phone' | 'hasPush' | 'contactId'>,
  channel: MessageChannel,
): string | null | undefined {
  if (channel === 'email') return email
  if (channel === 'push' && hasPush !== null) return hasPush ? contactId : null
  return channel === 'sms' || channel === 'whatsapp' ? phone : undefined
}
