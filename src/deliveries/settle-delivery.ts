import { type Verdict, outcomeOf } from '../outbound/verdict.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Claimed } from './claim-deliveries.ts'

/** What became of it: `retry` waits for its next attempt. */
export type Settled = Verdict['kind']

/**
 * Writes down what came of an attempt; of the last one of `tries` it is dead, unless nothing was sent. Undefined when the claim
 * ran out meanwhile, or the person was erased: nothing is written then, and the destination not held.
 */
export async function settleDelivery(
  sql: Sql,
  { businessId, id, claim, attempts }: Claimed,
  verdict: Verdict,
  { tries }: { tries: number },
): Promise<Settled | undefined> {
  const { kind, delayMs, reason, holdMs, isAttempt } = outcomeOf(verdict, attempts, tries)
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
