import type { Queryable } from '../../stores/postgres.ts'
import type { SenderKey } from '../channels/channels.ts'
import { showWords } from '../channels/words.ts'
import type { OptOutFact } from './callbacks.ts'
import { findIds, ownId } from './find-messages.ts'

/** A choice to record. `at`: epoch milliseconds. */
export interface OptOut {
  contactId: string
  method: string
  at: number
}

/**
 * Returns the contact whose message the opt-out is about, or whose address it names: Postmark reports those too that are
 * made on its own pages. Null: there is none, it is about a message of another sender, or it was recorded before.
 */
export async function findOptedOut(
  sql: Queryable,
  channel: SenderKey,
  fact: OptOutFact,
  receivedAt: number,
): Promise<OptOut | null> {
  const { businessId } = channel
  const messageId = (await findIds(sql, channel, [fact])).get(0) ?? null
  const [found] = await sql<{ contactId: string | null }[]>`
    select contact_id as "contactId" from messages where business_id = ${businessId} and id = ${messageId}`
  const isOfOther = messageId === null && (await isKnown(sql, businessId, fact))
  const [owner] =
    found !== undefined || isOfOther || fact.address === null
      ? []
      : await sql<{ contactId: string }[]>`
        select contact_id as "contactId" from identities
        where business_id = ${businessId} and kind = 'email' and value = ${fact.address.trim().toLowerCase()} and proven`
  const contactId = (found ?? owner)?.contactId ?? null
  if (contactId === null) return null
  const at = Math.max(0, Math.min(fact.at, receivedAt))
  const [known] = await sql`
    select from consent_history h
    where h.business_id = ${businessId} and h.channel = ${channel.channel} and not h.subscribed
      and h.method = ${fact.method} and h.recorded_at = ${at}
      and h.contact_id = (select coalesce(merged_into, id) from contacts where business_id = ${businessId} and id = ${contactId})
    limit 1`
  return known === undefined ? { contactId, method: fact.method, at } : null
}

/** Whether the business has the message, of whatever sender. */
async function isKnown(
  sql: Queryable,
  businessId: string,
  { messageId, providerMessageId }: OptOutFact,
): Promise<boolean> {
  const [found] = await sql`
    select from messages where business_id = ${businessId} and id = ${ownId(messageId)}
    union all
    select from messages where business_id = ${businessId} and provider_message_id = ${providerMessageId && showWords(providerMessageId)}
    limit 1`
  return found !== undefined
}
