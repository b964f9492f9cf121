/** Finds the messages that reports are about. */
import type { ReportedMessage } from '../../rules/messages/message-reports.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { DEFAULT_SENDER, type SenderKey } from '../channels/channels.ts'
import { showWords } from '../channels/words.ts'
import type { ReportFact } from './callbacks.ts'

type Named = Pick<ReportFact, 'messageId' | 'providerMessageId'>

export interface FoundMessage extends ReportedMessage {
  id: string
  recipient: string | null
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Null for a text that is not an id of ours. */
export const ownId = (messageId: string | null): string | null =>
  messageId !== null && UUID.test(messageId) ? messageId : null

/**
 * Returns the message of each report, in order; null when the sender has none. Locks them in the order of their ids,
 * so that two transactions with the same messages never wait for each other.
 */
export async function lockMessages(
  tx: Queryable,
  sender: SenderKey,
  facts: readonly Named[],
): Promise<(FoundMessage | null)[]> {
  if (facts.length === 0) return []
  const ids = await findIds(tx, sender, facts)
  const rows = await tx<FoundMessage[]>`
    select id, state, states, reports, recipient from messages
    where business_id = ${sender.businessId} and id = any (${`{${[...ids.values()].join(',')}}`}::text::uuid[])
    order by id for update`
  const messages = new Map(rows.map((row) => [row.id, row]))
  return facts.map((_, place) => messages.get(ids.get(place) ?? '') ?? null)
}

/** By the place of the report: messages that took the sender's connection. Our own id is tried first, because an `unknown` message has no other. */
export async function findIds(
  tx: Queryable,
  { businessId, channel, sender }: SenderKey,
  facts: readonly Named[],
): Promise<Map<number, string>> {
  const asked = facts.map(({ messageId, providerMessageId }, place) => ({
    place,
    own: ownId(messageId),
    theirs: providerMessageId && showWords(providerMessageId),
  }))
  const rows = await tx<{ place: number; id: string }[]>`
    select x.place, coalesce(own.id, theirs.id) as id
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (place integer, own uuid, theirs text)
    left join lateral (
      select id from messages where business_id = ${businessId} and id = x.own and channel = ${channel}
        and coalesce(connection, ${DEFAULT_SENDER}) = ${sender} limit 1
    ) own on true
    left join lateral (
      select id from messages
      where business_id = ${businessId} and provider_message_id = x.theirs and channel = ${channel}
        and coalesce(connection, ${DEFAULT_SENDER}) = ${sender} limit 1
    ) theirs on own.id is null
    where coalesce(own.id, theirs.id) is not null`
  return new Map(rows.map(({ place, id }) => [place, id]))
}
