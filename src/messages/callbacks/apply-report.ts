/** Applies a provider's report on a message. */
import { suppressionOf } from '../../rules/messages/blame.ts'
import { type MessageReport, type ReportedMessage, addReport } from '../../rules/messages/message-reports.ts'
import { readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey } from '../channels/channels.ts'
import { showWords } from '../channels/words.ts'
import type { MessageKey } from '../message-key.ts'
import { suppress } from '../suppressions/suppress.ts'
import type { ReportFact } from './callbacks.ts'
import type { FoundMessage } from './find-messages.ts'

/** `message` is locked, and is changed as its row is. `receivedAt`: epoch milliseconds. */
interface Applied {
  message: FoundMessage
  fact: ReportFact
  receivedAt: number
}

/** Returns false when the provider has reported the same before. */
export async function applyReport(
  tx: Queryable,
  key: MessageKey,
  channel: ChannelKey,
  { message, fact, receivedAt }: Applied,
): Promise<boolean> {
  // The provider's clock may be ahead.
  const report: MessageReport = { ...fact.report, at: Math.max(0, Math.min(fact.report.at, receivedAt)) }
  const changed = addReport(message, report)
  if (changed === null) return false
  await storeReport(tx, channel, message.id, changed, fact)
  const { isNew, ...now } = changed
  Object.assign(message, now)
  const reason = isNew ? suppressionOf(report.blame) : null
  const address = reason && addressOf(channel, message.recipient ?? fact.address)
  // An operator may have lifted the suppression since: a repeated report suppresses nothing.
  if (reason && address)
    await suppress(tx, key, { businessId: channel.businessId, now: receivedAt }, [{ ...address, reason }])
  return isNew
}

/** For a person who was erased meanwhile, nothing is stored that could identify them. */
async function storeReport(
  tx: Queryable,
  { businessId }: ChannelKey,
  messageId: string,
  { state, states, reports, isNew }: ReportedMessage & { isNew: boolean },
  { detail, providerMessageId, report }: ReportFact,
): Promise<void> {
  const words = detail === null || report.state !== state ? null : showWords(detail)
  // A repeated report of a refusal does not mean that the message was sent.
  const isOut =
    isNew &&
    state !== 'failed' &&
    state !== 'unknown' &&
    state !== 'claimed' &&
    state !== 'queued' &&
    state !== 'skipped'
  await tx`
    update messages set
      state = ${state},
      -- One that is failed already, as it was given up, was not refused because it is reported as sent.
      reason = case when ${report.state} = 'failed' and ${state} = 'failed' then 'provider_refused'
        when state = ${state} then reason when ${state} = 'failed' then 'provider_refused' end,
      states = ${JSON.stringify(states)}::text::jsonb, reports = ${JSON.stringify(reports)}::text::jsonb,
      sent_at = case when ${isOut} then coalesce(sent_at, claimed_at) else sent_at end,
      detail = case when num_nonnulls(contact_id, recipient) > 0 then coalesce(${words}::text, detail) end,
      provider_message_id = case when num_nonnulls(contact_id, recipient) > 0
        then coalesce(provider_message_id, ${providerMessageId && showWords(providerMessageId)}::text) end
    where business_id = ${businessId} and id = ${messageId}`
}

/** Null for a channel without addresses, and for a text that is not an address. */
function addressOf({ channel }: ChannelKey, text: string | null) {
  if (text === null || channel === 'push' || channel === 'webhook') return null
  return readChannelAddress(channel, text, null)
}
