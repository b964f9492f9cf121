/** Messages that the provider `log` has kept. */
import { sanitiseJson } from '../../rules/events/text.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { MessageChannel, RenderedMessage } from '../templates/template.ts'
import type { OutgoingMessage } from './provider.ts'

/** The newest ones of each channel of a business. */
export const MAX_LOGGED = 1000

/** Deletes the oldest ones beyond the limit. False when the contact no longer exists. */
export async function logMessage(
  sql: Sql,
  { messageId, businessId, channel, contactId, to, message }: OutgoingMessage,
): Promise<boolean> {
  // Liquid can make characters that Postgres cannot store.
  const storable = JSON.stringify(sanitiseJson(message).value)
  const { count } = await sql`
    with contact as (
      select from contacts where business_id = ${businessId} and id = ${contactId} for key share
    )
    insert into logged_messages (business_id, channel, id, contact_id, recipient, message)
    select ${businessId}, ${channel}, ${messageId}, ${contactId}, ${to}, ${storable}::text::jsonb
    where ${contactId}::uuid is null or exists (select from contact)`
  await sql`
    delete from logged_messages
    where business_id = ${businessId} and channel = ${channel} and id <= (
      select id from logged_messages where business_id = ${businessId} and channel = ${channel}
      order by id desc offset ${MAX_LOGGED} limit 1)`
  return count === 1
}

export interface LoggedMessage {
  messageId: string
  contactId: string | null
  to: string | null
  message: RenderedMessage
  /** ISO 8601 UTC. */
  loggedAt: string
}

/** Newest first. `before`: the id that the page begins below; null for the first page. */
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
