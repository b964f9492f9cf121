import type { Sql } from '../stores/postgres.ts'
import type { Claimed } from './claim-deliveries.ts'
import type { Verdict } from './conversion.ts'

/** 1, 3, 9, 27 … minutes, twelve hours at most: ten tries last for a day or two. */
const FIRST_MS = 60_000
const LONGEST_MS = 12 * 3_600_000

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
  const unsent = verdict.kind === 'retry' && verdict.unsent === true
  const kind = verdict.kind === 'retry' && attempts >= tries && !unsent ? 'dead' : verdict.kind
  const delayMs = verdict.kind === 'retry' && !unsent ? Math.max(verdict.afterMs ?? 0, backOffMs(attempts)) : 0
  const reason = verdict.kind === 'sent' ? null : verdict.reason
  const holdMs = verdict.kind === 'retry' && verdict.holds ? (verdict.afterMs ?? 0) : null
  const settled = await sql`
    with settled as (
      update deliveries set
        state = ${kind === 'retry' ? 'queued' : kind}, claim = null, last_error = ${reason},
        attempts = attempts - ${unsent ? 1 : 0},
        next_attempt_at = now() + ${Math.round(delayMs)} * interval '1 millisecond',
        settled_at = case when ${kind !== 'retry'} then now() end
      where business_id = ${businessId} and id = ${id} and claim = ${claim}
      returning business_id, destination_id
    ),
    held as (
      update destinations d set
        held_until = greatest(d.held_until, now() + ${holdMs && Math.round(holdMs)}::bigint * interval '1 millisecond')
      from settled s
      where d.business_id = s.business_id and d.id = s.destination_id and ${holdMs !== null}
    )
    select from settled`
  return settled.length === 0 ? undefined : kind
}

/** Half of it is chance, so that what failed together does not come back together. */
function backOffMs(attempts: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 3 ** (attempts - 1))
  return longest / 2 + (Math.random() * longest) / 2
}
