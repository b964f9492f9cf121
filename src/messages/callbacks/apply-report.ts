/** Applies a provider's report on a message. */
import type { Logger } from '../../log.ts'
import { suppressionOf } from '../../rules/messages/blame.ts'
import { type MessageReport, type ReportedMessage, addReport } from '../../rules/messages/message-reports.ts'
import { readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { ChannelKey } from '../channels/channels.ts'
import { countReported, logPaused, pauseRefused } from '../channels/pause-channel.ts'
import { showWords } from '../channels/words.ts'
import { loadMessageKey } from '../message-key.ts'
import { suppress } from '../suppressions/suppress.ts'
import type { CallbackFact } from './callbacks.ts'

type Report = Extract<CallbackFact, { kind: 'report' }>

interface FoundMessage extends ReportedMessage {
  id: string
  recipient: string | null
}

/**
 * A refusal because of the sender counts towards a pause of the channel, if it still has this provider (`isCurrent`).
 * Returns false, without a change, when the business has no such message. `receivedAt`: epoch milliseconds.
 */
export async function applyReport(
  { sql, log }: { sql: Sql; log: Logger },
  channel: ChannelKey,
  fact: Report,
  { receivedAt, isCurrent }: { receivedAt: number; isCurrent: boolean },
): Promise<boolean> {
  const key = await loadMessageKey(sql)
  // The provider's clock may be ahead.
  const report: MessageReport = { ...fact.report, at: Math.max(0, Math.min(fact.report.at, receivedAt)) }
  const applied = await inTransaction(sql, async (tx) => {
    const message = await findMessage(tx, channel, fact)
    if (message === null) return null
    const changed = addReport(message, report)
    if (changed === null) return []
    await storeReport(tx, channel, message.id, changed, fact)
    const reason = changed.isNew ? suppressionOf(report.blame) : null
    const address = reason && addressOf(channel, message.recipient ?? fact.address)
    // An operator may have lifted the suppression since: a repeated report suppresses nothing.
    if (reason && address)
      await suppress(tx, key, { businessId: channel.businessId, now: receivedAt }, [{ ...address, reason }])
    if (!isCurrent || !changed.isNew || report.blame !== 'sender') return []
    const refused = { businessId: channel.businessId, channel: channel.channel, at: receivedAt }
    await countReported(tx, refused)
    return pauseRefused(tx, [refused])
  })
  logPaused(log, applied ?? [])
  return applied !== null
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Locks the message. Our own id is tried first, because an `unknown` message has no other. */
async function findMessage(
  tx: Queryable,
  { businessId, channel }: ChannelKey,
  { messageId, providerMessageId }: Report,
): Promise<FoundMessage | null> {
  if (messageId !== null && UUID.test(messageId)) {
    const [own] = await tx<FoundMessage[]>`
      select id, state, states, reports, recipient from messages
      where business_id = ${businessId} and id = ${messageId} and channel = ${channel} for update`
    if (own !== undefined) return own
  }
  if (providerMessageId === null) return null
  const [found] = await tx<FoundMessage[]>`
    select id, state, states, reports, recipient from messages
    where business_id = ${businessId} and provider_message_id = ${showWords(providerMessageId)} and channel = ${channel}
    limit 1 for update`
  return found ?? null
}

/** For a person who was erased meanwhile, nothing is stored that could identify them. */
async function storeReport(
  tx: Queryable,
  { businessId }: ChannelKey,
  messageId: string,
  { state, states, reports, isNew }: ReportedMessage & { isNew: boolean },
  { detail, providerMessageId, report }: Report,
): Promise<void> {
  const words = detail === null || report.state !== state ? null : showWords(detail)
  // A repeated report of a refusal does not mean that the message was sent.
  const isOut = isNew && state !== 'failed' && state !== 'unknown' && state !== 'claimed' && state !== 'skipped'
  await tx`
    update messages set
      state = ${state},
      -- One that is failed already, as it was given up, was not refused because it is reported as sent.
      reason = case when ${report.state} = 'failed' and ${state} = 'failed' then 'provider_refused'
        when state = ${state} then reason when ${state} = 'failed' then 'provider_refused' end,
      states = ${JSON.stringify(states)}::text::jsonb, reports = ${JSON.stringify(reports)}::text::jsonb,
      sent_at = case when ${isOut} then coalesce(sent_at, claimed_at) else sent_at end,
      detail = case when contact_id is not null then coalesce(${words}::text, detail) end,
      provider_message_id = case when contact_id is not null
        then coalesce(provider_message_id, ${providerMessageId && showWords(providerMessageId)}::text) end
    where business_id = ${businessId} and id = ${messageId}`
}

/** Null for a channel without addresses, and for a text that is not an address. */
function addressOf({ channel }: ChannelKey, text: string | null) {
  if (text === null || channel === 'push' || channel === 'webhook') return null
  return readChannelAddress(channel, text, null)
}
