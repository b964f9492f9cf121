import { backoffMs } from '../../../async/backoff.ts'
import { sleep } from '../../../async/sleep.ts'
import { keepWhatsappId } from '../../../messages/callbacks/whatsapp-ids.ts'
import { DEFAULT_PROVIDER } from '../../../messages/channels/providers.ts'
import { showWords } from '../../../messages/channels/words.ts'
import { loadMessageKey } from '../../../messages/message-key.ts'
import { type NewSuppression, suppress } from '../../../messages/suppressions/suppress.ts'
import { refusedState } from '../../../rules/messages/blame.ts'
import { keyOfReport } from '../../../rules/messages/message-reports.ts'
import type { FailureReason } from '../../../rules/messages/message-reasons.ts'
import { sanitiseJson } from '../../../rules/events/text.ts'
import type { ClaimedSend } from '../claim/claim-due.ts'
import type { EngineDeps } from '../engine-deps.ts'
import { type AttemptRecord, recordAttempts } from './record-attempts.ts'
import { judgeSenders, reportJudged } from '../claim/record-together.ts'
import { recordReported } from './record-reported.ts'
import { refusedAddress } from '../send/refused-address.ts'
import type { Attempt } from '../send/attempt.ts'
import { inTransaction } from '../../../stores/transaction.ts'

/** Backoff before another attempt at a message that was certainly not accepted. */
const RETRY = { firstMs: 20_000, maxMs: 3_600_000 }
/** Milliseconds from the first claim until the message is given up. */
export const GIVE_UP_MS = 86_400_000
/** Backoff while Postgres cannot store an outcome: a short outage must not turn a known outcome into `unknown`. */
const RECORD = { attempts: 8, firstMs: 100, maxMs: 5000 }

export type Settled =
  | { state: 'sent' | 'bounced' | 'failed' | 'unknown'; reason: FailureReason | null }
  | { state: 'retry'; at: number }

/** Returns the state of the message after an attempt. */
export function stateAfterAttempt(
  { outcome }: Pick<Attempt, 'outcome'>,
  { attempts, claimedAt }: Pick<ClaimedSend, 'attempts' | 'claimedAt'>,
  now: number,
): Settled {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'sent', reason: null }
    case 'unknown':
      return { state: 'unknown', reason: null }
    case 'refused':
      return { state: refusedState(outcome.blame), reason: 'provider_refused' }
    case 'template_failed':
      return { state: 'failed', reason: 'template_failed' }
    case 'temporary': {
      const at = now + Math.round(backoffMs(attempts, RETRY))
      return at >= claimedAt + GIVE_UP_MS ? { state: 'failed', reason: 'gave_up' } : { state: 'retry', at }
    }
  }
}

/**
 * Records the outcome of an attempt, and lets the enrolment continue: see `recordAttempts`. An address that was refused
 * permanently is suppressed in the same transaction. Rejects when Postgres fails in all of several attempts.
 */
export async function settle(deps: EngineDeps, claimed: ClaimedSend, attempt: Attempt): Promise<Settled> {
  const now = deps.now()
  const settled = stateAfterAttempt(attempt, claimed, now)
  const record = recordOf(claimed, attempt, { settled, now })
  const suppression = refusedAddress(claimed, attempt)
  for (let failures = 1; ; failures += 1)
    try {
      if (failures < RECORD.attempts / 2) await keepRecipientId(deps, claimed, attempt)
      await store(deps, record, suppression)
      return settled
    } catch (error) {
      if (failures === RECORD.attempts) throw error
      deps.log.warn({ err: error, message: claimed.messageId }, 'an outcome was not recorded, trying again')
      await sleep(backoffMs(failures, RECORD))
    }
}

/** Before the outcome, because a sender that dies does not come back to it. The outcome does not wait for it for long. */
async function keepRecipientId(
  { sql, now }: EngineDeps,
  { businessId, contactId, step, recipient }: ClaimedSend,
  { outcome }: Attempt,
): Promise<void> {
  if (outcome.kind !== 'accepted' || outcome.recipientId === undefined) return
  const message = { businessId, channel: step.channel, contactId, to: recipient }
  await keepWhatsappId(sql, message, outcome.recipientId, now())
}

async function store(deps: EngineDeps, record: AttemptRecord, suppression: NewSuppression | null): Promise<void> {
  const isDone = suppression === null && (await deps.batches.attempts.run(record))
  if (!isDone) await recordAlone(deps, record, suppression)
}

function recordOf(
  { businessId, enrolmentId, messageId, step, claim, sender }: ClaimedSend,
  { outcome, provider, from, rendered }: Attempt,
  { settled, now }: { settled: Settled; now: number },
): AttemptRecord {
  const isFinal = settled.state !== 'retry'
  return {
    businessId,
    enrolmentId,
    messageId,
    channel: step.channel,
    sender: sender.connection,
    wasUnreachable: sender.isUnreachable,
    claim,
    isFinal,
    state: isFinal ? settled.state : 'claimed',
    reason: isFinal ? settled.reason : null,
    judged: judgedAs({ outcome, provider }, isFinal),
    boundTo: !isFinal && contactOf(outcome) === 'written' ? sender.sender : null,
    reported: isFinal ? reportedAs({ outcome, provider }) : null,
    at: now,
    dueAt: isFinal ? now : settled.at,
    detail: outcome.reason === undefined ? null : showWords(outcome.reason),
    provider,
    sentFrom: from,
    templateVersion: rendered?.version ?? null,
    values: rendered && JSON.stringify(sanitiseJson(rendered.values).value),
    providerMessageId: 'providerMessageId' in outcome ? (outcome.providerMessageId ?? null) : null,
  }
}

/** Messages that never reached a provider, or a provider that stores everything, say nothing about the sender. */
export function judgedAs(
  { outcome, provider }: Pick<Attempt, 'outcome' | 'provider'>,
  isFinal: boolean,
): AttemptRecord['judged'] {
  if (provider === null || provider === DEFAULT_PROVIDER.name || outcome.kind === 'template_failed') return null
  if (contactOf(outcome) === 'untried') return isFinal ? 'other' : null
  if (contactOf(outcome) === 'none') return 'unreached'
  if (!isFinal) return 'reached'
  return outcome.kind === 'refused' && (outcome.blame ?? 'sender') === 'sender' ? 'refused' : 'other'
}

export const contactOf = (outcome: Attempt['outcome']) => ('contact' in outcome ? outcome.contact : undefined)

export function reportedAs({ outcome, provider }: Pick<Attempt, 'outcome' | 'provider'>): string | null {
  if (outcome.kind !== 'refused' || provider === null) return null
  return keyOfReport({ ...outcome, state: refusedState(outcome.blame) })
}

/** Waits for an erasure, a merge, or a person who settles the message, when one of them holds its rows. */
async function recordAlone(
  { sql, log }: Pick<EngineDeps, 'sql' | 'log'>,
  record: AttemptRecord,
  suppression: NewSuppression | null,
): Promise<void> {
  const { businessId, enrolmentId, messageId, at: now } = record
  const key = await loadMessageKey(sql)
  const judged = await inTransaction(sql, async (tx) => {
    await tx`
      select from due_steps where business_id = ${businessId} and enrolment_id = ${enrolmentId} for update`
    await tx`select from messages where business_id = ${businessId} and id = ${messageId} for update`
    const [isRecorded] = await recordAttempts(tx, [record])
    if (isRecorded !== true && record.state === 'sent') await recordReported(tx, record)
    if (suppression !== null) await suppress(tx, key, { businessId, now }, [suppression])
    return judgeSenders(tx, [record])
  })
  reportJudged({ sql, log }, judged, [record])
}
