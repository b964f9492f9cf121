import { type SendResult, decideOutcome } from '../outbound/send-result.ts'
import type { Sql } from '../stores/postgres.ts'
import type { ClaimedDelivery } from './claim-deliveries.ts'

/** Number of newest attempts that a delivery keeps. */
export const MAX_ATTEMPTS_KEPT = 10

export interface Attempt {
  /** ISO 8601, from the clock of Postgres. */
  at: string
  /** `unsent`: nothing was sent, so the attempt does not count. */
  outcome: DeliveryOutcome | 'unsent'
  /** Null when the conversion was sent. */
  reason: string | null
}

/** The recorded outcome. After `retry` the delivery waits for its next attempt. */
export type DeliveryOutcome = SendResult['kind']

/**
 * Records the outcome of an attempt. The delivery is dead after the last of `tries`, unless nothing was sent. Returns
 * undefined, and records nothing, when the claim has expired or the person has been erased.
 */
export async function recordDelivery(
  sql: Sql,
  { businessId, id, claim, attempts }: ClaimedDelivery,
  result: SendResult,
  { tries }: { tries: number },
): Promise<DeliveryOutcome | undefined> {
  const { kind, delayMs, reason, holdMs, isAttempt } = decideOutcome(result, attempts, tries)
  const attempt = { outcome: isAttempt ? kind : ('unsent' as const), reason }
  const settled = await sql`
    with settled as (
      update deliveries set
        state = ${kind === 'retry' ? 'queued' : kind}, claim = null, last_error = ${reason},
        attempts = attempts - ${isAttempt ? 0 : 1},
        attempt_log = ${appended(sql, attempt)},
        next_attempt_at = now() + ${delayMs} * interval '1 millisecond',
        settled_at = case when ${kind !== 'retry'} then now() end
      where business_id = ${businessId} and id = ${id} and claim = ${claim}
      returning business_id, destination_id
    ),
    held as (
      update destinations d set
        held_until = greatest(d.held_until, now() + ${holdMs}::bigint * interval '1 millisecond')
      from settled s
      where d.business_id = s.business_id and d.id = s.destination_id and ${holdMs !== null}
    )
    select from settled`
  return settled.length === 0 ? undefined : kind
}

/**
 * Appends an attempt to the log. An unsent attempt replaces a previous unsent one with the same reason, because a
 * delivery may be held for days.
 */
function appended(sql: Sql, { outcome, reason }: { outcome: Attempt['outcome']; reason: string | null }) {
  return sql`(
    select case when jsonb_array_length(earlier) >= ${MAX_ATTEMPTS_KEPT} then earlier - 0 else earlier end
      || jsonb_build_array(jsonb_build_object('at', now(), 'outcome', ${outcome}::text, 'reason', ${reason}::text))
    from (
      select case
        when ${outcome === 'unsent'} and attempt_log -> -1 ->> 'outcome' = 'unsent' and attempt_log -> -1 ->> 'reason' = ${reason}
        then attempt_log - (-1) else attempt_log
      end as earlier
    ) as log
  )`
}
