import type { Sql } from '../stores/postgres.ts'
import type { Logger } from '../log.ts'
import { leaseIsHeld, asynchronousCommit } from '../stream/leases/lease.ts'
import { sleep } from '../async/sleep.ts'

/** Once a lease is released or has expired, another process takes it within this time. */
const MAX_INTERVAL_MS = 1000

export type LeaseTable = 'timeline_lease' | 'segment_lease' | 'branch_lease'

/** The right to ship the outbox, to run the segment worker, or to answer branches. One process has it at a time. */
export interface Lease {
  /** Identifies this process in the table. */
  readonly owner: string
  isHeld(): boolean
  /** Stops renewing, and lets another process take over at once. */
  release(): Promise<void>
}

/**
 * Takes the lease as soon as it is free and renews it in the background, even while an insert takes long.
 *
 * The lease is a row with an end and not a lock of a Postgres session. If an owner were paused, or lost behind a dead
 * network, its session would keep the lock for as long as the connection seems alive, and no process would ship. A row
 * expires, and another owner takes over. The paused owner may then resume in the middle of a group and send it, too.
 * That is harmless: a group is a fixed list of rows, no row is ever in two groups, the token lets ClickHouse accept it
 * once, and only a newer snapshot replaces a snapshot. So the lease saves work; tokens and revisions ensure
 * correctness.
 */
export async function takeLease(
  deps: { sql: Sql; log: Logger },
  leaseMs: number,
  table: LeaseTable = 'timeline_lease',
): Promise<Lease> {
  const owner = crypto.randomUUID()
  const released = new AbortController()
  let heldUntil = 0
  const renew = async () => {
    // The time before the call counts, so that this process gives up the lease no later than Postgres does.
    const askedAt = performance.now()
    if (await renewLease(deps.sql, table, owner, leaseMs)) heldUntil = askedAt + leaseMs
  }
  const tryRenew = () => renew().catch((error: unknown) => deps.log.warn({ err: error, table }, 'lease not renewed'))
  await tryRenew()
  const renewing = repeat(tryRenew, Math.min(leaseMs / 3, MAX_INTERVAL_MS), released.signal)
  return {
    owner,
    isHeld: () => performance.now() < heldUntil,
    async release() {
      released.abort()
      heldUntil = 0
      await renewing
      await deps.sql`update ${deps.sql(table)} set owner = null, lease_until = '-infinity' where owner = ${owner}`
    },
  }
}

async function repeat(run: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(everyMs, signal)
    if (!signal.aborted) await run()
  }
}

/** Resolves with false when another process has the lease. */
async function renewLease(sql: Sql, table: LeaseTable, owner: string, leaseMs: number): Promise<boolean> {
  const renewed = await sql`
    update ${sql(table)} set owner = ${owner}, lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where owner = ${owner} or not (${leaseIsHeld(sql)})
    returning ${asynchronousCommit(sql)}`
  return renewed.count === 1
}
