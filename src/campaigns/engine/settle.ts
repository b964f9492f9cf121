import { backoffMs } from '../../async/backoff.ts'
import { showWords } from '../../messages/channels/words.ts'
import { sanitiseJson } from '../../rules/events/text.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { ClaimedSend } from './claim-due.ts'
import type { EngineDeps } from './engine-deps.ts'
import type { Attempt } from './send-message.ts'

/** Before another attempt at what was surely not taken. */
const RETRY = { firstMs: 20_000, maxMs: 3_600_000 }
/** From the first claim on: then it is given up. */
export const GIVE_UP_MS = 86_400_000

export type Settled =
  | { state: 'sent' | 'failed' | 'unknown'; reason: 'template_failed' | 'provider_refused' | 'gave_up' | null }
  | { state: 'retry'; at: number }

/** What becomes of the message after an attempt. */
export function judgeAttempt(
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
      return { state: 'failed', reason: 'provider_refused' }
    case 'template_failed':
      return { state: 'failed', reason: 'template_failed' }
    case 'temporary': {
      const at = now + Math.round(backoffMs(attempts, RETRY))
      return at >= claimedAt + GIVE_UP_MS ? { state: 'failed', reason: 'gave_up' } : { state: 'retry', at }
    }
  }
}

/**
 * Records what became of an attempt, and lets the enrolment go on. A worker whose claim has expired meanwhile still says what it knows
 * of the message; the enrolment has gone on without it.
 */
export async function settle(deps: EngineDeps, claimed: ClaimedSend, attempt: Attempt): Promise<Settled> {
  const now = deps.now()
  const settled = judgeAttempt(attempt, claimed, now)
  await deps.sql.begin(async (tx) => {
    if (settled.state === 'retry') await retryLater(tx, claimed, settled.at)
    else await goOn(tx, claimed, now)
    await recordAttempt(tx, claimed, attempt, { settled, now })
  })
  return settled
}

async function retryLater(tx: Queryable, { businessId, enrolmentId, claim }: ClaimedSend, at: number): Promise<void> {
  await tx`
    update due_steps set claim = null, due_at = ${at}
    where business_id = ${businessId} and enrolment_id = ${enrolmentId} and claim = ${claim}`
}

async function goOn(tx: Queryable, { businessId, enrolmentId, claim }: ClaimedSend, now: number): Promise<void> {
  await tx`
    update due_steps set claim = null, message_id = null, attempts = 0, settled = true, due_at = ${now}
    where business_id = ${businessId} and enrolment_id = ${enrolmentId} and claim = ${claim}`
}

/** Of a person who was erased meanwhile, nothing is kept that could name them. */
async function recordAttempt(
  tx: Queryable,
  { businessId, messageId }: ClaimedSend,
  { outcome, provider, rendered }: Attempt,
  { settled, now }: { settled: Settled; now: number },
): Promise<void> {
  const isFinal = settled.state !== 'retry'
  const state = isFinal ? settled.state : 'claimed'
  const detail = outcome.reason === undefined ? null : showWords(outcome.reason)
  const providerMessageId = 'providerMessageId' in outcome ? (outcome.providerMessageId ?? null) : null
  const values = rendered && JSON.stringify(sanitiseJson(rendered.values).value)
  await tx`
    update messages set
      state = ${state}, reason = ${isFinal ? settled.reason : null},
      states = case when ${isFinal}
        then states || jsonb_build_array(jsonb_build_object('state', ${state}::text, 'at', ${now}::bigint)) else states end,
      sent_at = ${state === 'sent' ? now : null}, provider = ${provider},
      template_version = coalesce(${rendered?.version ?? null}::integer, template_version),
      detail = case when contact_id is not null then ${detail}::text end,
      provider_message_id = case when contact_id is not null then ${providerMessageId}::text end,
      "values" = case when contact_id is not null then coalesce(${values}::text, "values") end
    where business_id = ${businessId} and id = ${messageId}
      and (state = 'claimed' or (state = 'unknown' and ${isFinal && state !== 'unknown'}))`
}
