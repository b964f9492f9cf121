/** What the engine asks Postgres before it makes a claim. */
import type { EngineDeps } from '../engine-deps.ts'

/** How long before a claim its enrolments may have fallen due without being visible to it, in milliseconds. */
const UNSEEN_MS = 2000

interface Work {
  /** The earliest instants, in epoch milliseconds. Null: there is none. */
  nextDue: number | null
  nextBroadcast: number | null
  isEnding: boolean
  /** True when the zone of a business has changed. */
  hasZones: boolean
  /** True when the records of a sender are to be looked up. */
  hasChecks: boolean
}

/** A few index probes. An idle worker makes no other query. */
export async function findWork({ sql }: EngineDeps): Promise<Work> {
  const [work] = await sql<[Work]>`
    select (select due_at from due_steps where not held order by due_at limit 1) as "nextDue",
      (select due_at from broadcasts where due_at is not null order by due_at limit 1) as "nextBroadcast",
      exists (select from campaigns where ending) as "isEnding", exists (select from zone_changes) as "hasZones",
      exists (select from senders where check_wanted) as "hasChecks"`
  return work
}

/**
 * True when something of an active business has fallen due since the last claim. Only then does a wake-up end the
 * backoff, because wake-ups may be frequent. What a backdated event makes due waits for the end of the backoff.
 */
export async function hasNewlyDue({ sql, now }: EngineDeps, since: number): Promise<boolean> {
  const [found] = await sql`
    select from due_steps d join businesses b on b.id = d.business_id and b.active and b.removed_at is null
    where not d.held and d.due_at > ${since - UNSEEN_MS} and d.due_at <= ${now()}
    order by d.due_at limit 1`
  return found !== undefined
}
