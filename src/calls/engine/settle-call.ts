/** Records what became of an attempt to send the message of a call. */
import { backoffMs } from '../../async/backoff.ts'
import { sleep } from '../../async/sleep.ts'
import { judgeSenders, reportJudged } from '../../campaigns/engine/claim/record-together.ts'
import type { Attempt } from '../../campaigns/engine/send/attempt.ts'
import { refusedAddress } from '../../campaigns/engine/send/refused-address.ts'
import { recordReported } from '../../campaigns/engine/settle/record-reported.ts'
import { contactOf, judgedAs, reportedAs } from '../../campaigns/engine/settle/settle.ts'
import { keepWhatsappId } from '../../messages/callbacks/whatsapp-ids.ts'
import { showWords } from '../../messages/channels/words.ts'
import { loadMessageKey } from '../../messages/message-key.ts'
import { suppress } from '../../messages/suppressions/suppress.ts'
import { type AfterAttempt, retryAt } from '../../rules/calls/decide-call.ts'
import { sanitiseJson } from '../../rules/events/text.ts'
import { refusedState } from '../../rules/messages/blame.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { CallEngineDeps } from './call-engine-deps.ts'
import type { ClaimedCall } from './claim-calls.ts'
import { type CallRecord, recordCallAttempt } from './record-call-attempt.ts'

/** Sooner than messages of campaigns, because a code is not valid for long. */
const RETRY = { firstMs: 2000, maxMs: 900_000 }
/** Backoff while Postgres cannot store an outcome: a short outage must not turn a known outcome into `unknown`. */
const RECORD = { attempts: 8, firstMs: 100, maxMs: 5000 }

/** Returns the state of the message after an attempt. */
export function callAfterAttempt(
  { outcome }: Pick<Attempt, 'outcome'>,
  { attempts, expiresAt }: Pick<ClaimedCall, 'attempts' | 'expiresAt'>,
  now: number,
): AfterAttempt {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'sent', reason: null }
    case 'unknown':
      return { state: 'unknown', reason: null }
    case 'refused':
      return { state: refusedState(outcome.blame), reason: 'provider_refused' }
    case 'template_failed':
      return { state: 'failed', reason: 'template_failed' }
    case 'temporary':
      return retryAt(now, backoffMs(attempts, RETRY), expiresAt)
  }
}

/** Rejects when Postgres fails in all of several attempts. */
export async function settleCall(deps: CallEngineDeps, call: ClaimedCall, attempt: Attempt): Promise<AfterAttempt> {
  const now = deps.now()
  const after = callAfterAttempt(attempt, call, now)
  const record = recordOf(call, attempt, { after, now })
  for (let failures = 1; ; failures += 1)
    try {
      if (failures < RECORD.attempts / 2) await keepRecipientId(deps, call, attempt)
      await store(deps, call, attempt, record)
      if (after.state !== 'retry') deps.report([call.messageId])
      return after
    } catch (error) {
      if (failures === RECORD.attempts) throw error
      deps.log.warn({ err: error, message: call.messageId }, 'an outcome was not recorded, trying again')
      await sleep(backoffMs(failures, RECORD))
    }
}

async function keepRecipientId(
  { sql, now }: CallEngineDeps,
  { businessId, channel, contactId, recipient }: ClaimedCall,
  { outcome }: Attempt,
): Promise<void> {
  if (outcome.kind !== 'accepted' || outcome.recipientId === undefined) return
  await keepWhatsappId(sql, { businessId, channel, contactId, to: recipient }, outcome.recipientId, now())
}

function recordOf(
  call: ClaimedCall,
  { outcome, provider, from, rendered }: Attempt,
  { after, now }: { after: AfterAttempt; now: number },
): CallRecord {
  const isFinal = after.state !== 'retry'
  const isKept = rendered !== null && !call.options.sensitive
  return {
    ...call,
    sender: call.sender.connection,
    wasUnreachable: call.sender.isUnreachable,
    isFinal,
    state: isFinal ? after.state : 'claimed',
    reason: isFinal ? after.reason : null,
    judged: judgedAs({ outcome, provider }, isFinal),
    boundTo: !isFinal && contactOf(outcome) === 'written' ? call.sender.sender : null,
    sentFrom: from,
    reported: isFinal ? reportedAs({ outcome, provider }) : null,
    at: now,
    dueAt: isFinal ? now : after.at,
    detail: outcome.reason === undefined ? null : showWords(outcome.reason),
    provider,
    providerMessageId: 'providerMessageId' in outcome ? (outcome.providerMessageId ?? null) : null,
    templateVersion: rendered?.version ?? null,
    values: isFinal && isKept ? JSON.stringify(sanitiseJson(rendered.values).value) : null,
  }
}

/** An address that was refused permanently is suppressed in the same transaction. */
async function store(
  { sql, log }: CallEngineDeps,
  call: ClaimedCall,
  attempt: Attempt,
  record: CallRecord,
): Promise<void> {
  const { businessId, channel, recipient } = call
  const suppression = refusedAddress({ step: { channel }, recipient }, attempt)
  const key = await loadMessageKey(sql)
  const judged = await inTransaction(sql, async (tx) => {
    const isRecorded = await recordCallAttempt(tx, record)
    if (!isRecorded && record.state === 'sent') await recordReported(tx, record)
    if (suppression !== null) await suppress(tx, key, { businessId, now: record.at }, [suppression])
    return isRecorded ? judgeSenders(tx, [record]) : null
  })
  if (judged !== null) reportJudged({ sql, log }, judged, [record])
}
