import type { Sql } from '../stores/postgres.ts'
import type { Logger } from '../log.ts'
import { leaseIsHeld, asynchronousCommit } from '../stream/lease.ts'
import { untilNextTick } from '../async/sleep.ts'
import { type Broadcast, createBroadcast } from '../async/broadcast.ts'

/** Renewals look for work, too: at rest nothing else is asked. The first event after it waits for so long at most. */
export const REST_MS = 1000

/** The right to ship the outbox: one process at a time. */
export interface Lease {
  /** Names this process in `timeline_lease`. */
  readonly owner: string
  isHeld(): boolean
  /** What waits, as the next renewal finds it. There is none while another process has the lease. */
  nextLook: Broadcast<PendingWork>['next']
  /** Stops renewing, and lets another process take over at once. */
  release(): Promise<void>
}

/**
 * Takes the lease as soon as it is free and renews it in the background, also while an insert takes long.
 *
 * It is a row with an end and not a lock of a Postgres session: the session of an owner that is paused, or lost behind a
 * dead network, would keep its lock for as long as its connection seems to live, and nobody would ship. A row runs out
 * and another owner takes over. The paused one may then wake up in the middle of a group and send it too. That is
 * harmless: a group is a fixed list of rows, no row is ever in two groups, its token lets ClickHouse take it once, and a
 * snapshot only ever gives way to a newer one. So the lease saves work; tokens and revisions keep things right.
 */
export async function takeLease(deps: { sql: Sql; log: Logger }, leaseMs: number): Promise<Lease> {
  const owner = crypto.randomUUID()
  const released = new AbortController()
  const broadcast = createBroadcast<PendingWork>()
  let heldUntil = 0
  const renew = async () => {
    const publish = broadcast.begin()
    // Counted from before the call, so that this process lets go no later than Postgres does.
    const asked = performance.now()
    const waiting = await renewLease(deps.sql, owner, leaseMs)
    if (!waiting) return
    heldUntil = asked + leaseMs
    publish(waiting)
  }
  const tryRenew = () => renew().catch((error: unknown) => deps.log.warn({ err: error }, 'timeline lease not renewed'))
  await tryRenew()
  const renewing = repeat(tryRenew, Math.min(leaseMs / 3, REST_MS), released.signal)
  return {
    owner,
    isHeld: () => performance.now() < heldUntil,
    nextLook: broadcast.next,
    async release() {
      released.abort()
      heldUntil = 0
      await renewing
      await deps.sql`update timeline_lease set owner = null, lease_until = '-infinity' where owner = ${owner}`
    },
  }
}

async function repeat(run: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await untilNextTick(everyMs, signal)
    if (!signal.aborted) await run()
  }
}

/** Undefined when another process has it. */
async function renewLease(sql: Sql, owner: string, leaseMs: number): Promise<PendingWork | undefined> {
  const [waiting] = await sql<PendingWork[]>`
    update timeline_lease set owner = ${owner}, lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where owner = ${owner} or not (${leaseIsHeld(sql)})
    returning ${pendingWorkColumns(sql)}, ${asynchronousCommit(sql)}`
  return waiting
}

/** What Postgres holds for the timeline worker to do. */
export interface PendingWork {
  /** Rows of the outbox, to be sent or to be sent again. */
  rows: boolean
  /** People whom ClickHouse is to forget. */
  erasures: boolean
  /** Visits of theirs, to be deleted from web events, or deleted again after an hour. */
  visits: boolean
  /** The worker that shipped last reported a failure. */
  trouble: boolean
}

/** The columns of `PendingWork`. */
export const pendingWorkColumns = (sql: Sql) => sql`
  exists (select from outbox where shipped_at is null) as rows,
  exists (select from erasures where deleted_at is null) as erasures,
  exists (select from erased_visits where swept_at is null) as visits,
  exists (select from timeline_lease where trouble is not null) as trouble`
