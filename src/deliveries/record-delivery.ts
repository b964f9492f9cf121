import { type SendResult, decideOutcome } from '../outbound/send-result.ts'
import type { Sql } from '../stores/postgres.ts'
import type { ClaimedDelivery } from './claim-deliveries.ts'

/** The recorded outcome; `retry` waits for its next attempt. */
export type DeliveryOutcome = SendResult['kind']

/**
 * Records the outcome of an attempt. After the last of `tries` the delivery is dead, unless nothing was sent. Returns undefined,
 * and records nothing, when the claim has expired or the person was erased meanwhile.
 */
export async function recordDelivery(
  sql: Sql,
  { businessId, id, claim, attempts }: ClaimedDelivery,
  result: SendResult,
  { tries }: { tries: number },
): Promise<DeliveryOutcome | undefined> {
  const { kind, delayMs, reason, holdMs, isAttempt } = decideOutcome(result, attempts, tries)
  const settled = await sql`
    with settled as (
      update deliveries set
        state = ${kind === 'retry' ? 'queued' : kind}, claim = null, last_error = ${reason},
        attempts = attempts - ${isAttempt ? 0 : 1},
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
