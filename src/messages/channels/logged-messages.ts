/** Messages that the provider `log` has stored. */
import { sanitiseJson } from '../../rules/events/text.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { MessageChannel, RenderedMessage } from '../templates/template.ts'
import type { OutgoingMessage } from './provider.ts'

/** Number of messages that are kept per channel of a business, the newest ones. */
export const MAX_LOGGED = 1000

/**
 * Stores messages of one channel, and deletes the oldest ones beyond the limit. Storing a message again changes nothing.
 * @returns in their order, false for a message whose contact no longer exists
 */
export async function logMessages(sql: Sql, messages: readonly OutgoingMessage[]): Promise<boolean[]> {
  const [first] = messages
  if (first === undefined) return []
  const { businessId, channel } = first
  const found = await sql<{ id: string }[]>`
    with x as materialized (
      select * from json_to_recordset(${JSON.stringify(messages.map(rowOf))}::text::json) as x (id uuid, contact_id uuid, recipient text, message json)
    ),
    contact as materialized (
      select c.id from contacts c
      where c.business_id = ${businessId} and c.id in (select contact_id from x) order by c.id for key share
    ),
    found as materialized (
      select * from x where x.contact_id is null or exists (select from contact c where c.id = x.contact_id)
    ),
    logged as (
      insert into logged_messages (business_id, channel, id, contact_id, recipient, message)
      select ${businessId}, ${channel}, id, contact_id, recipient, message from found
      on conflict do nothing
    )
    select id from found`
  await sql`
    delete from logged_messages
    where business_id = ${businessId} and channel = ${channel} and id <= (
      select id from logged_messages where business_id = ${businessId} and channel = ${channel}
      order by id desc offset ${MAX_LOGGED} limit 1)`
  const ids = new Set(found.map(({ id }) => id))
  return messages.map(({ messageId }) => ids.has(messageId))
}

const rowOf = ({ messageId, contactId, to, message }: OutgoingMessage) => ({
  id: messageId,
  contact_id: contactId,
  recipient: to,
  // Liquid can produce characters that Postgres cannot store.
  message: sanitiseJson(message).value,
})

export interface LoggedMessage {
  messageId: string
  contactId: string | null
  to: string | null
  message: RenderedMessage
  /** ISO 8601 UTC. */
  loggedAt: string
}

/** Newest first. `before`: the page begins below this id; null for the first page. */
export async function listLoggedMessages(
  sql: Sql,
  page: { businessId: string; channel: MessageChannel; before: string | null; limit: number },
): Promise<LoggedMessage[]> {
  const { businessId, channel, before, limit } = page
  const rows = await sql<(Omit<LoggedMessage, 'loggedAt'> & { loggedAt: Date })[]>`
    select id as "messageId", contact_id as "contactId", recipient as "to", message, logged_at as "loggedAt"
    from logged_messages
    where business_id = ${businessId} and channel = ${channel} and id < ${before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
    order by id desc limit ${limit}`
  return rows.map((row) => ({ ...row, loggedAt: row.loggedAt.toISOString() }))
}
