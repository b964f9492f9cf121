import type { Sql } from '../../stores/postgres.ts'
import { leaseIsHeld } from '../../stream/leases/lease.ts'
import { sleep } from '../../async/sleep.ts'
import { CommandError } from '../command.ts'

const POLL_MS = 200
/** Milliseconds to wait in addition to the length of a lease. */
const SLACK_MS = 2000

/**
 * Resolves when no worker holds a lease. A backup can contain leases, which expire. Throws CommandError if a lease does
 * not expire.
 */
export async function requireStopped(sql: Sql, leaseMs: number, signal: AbortSignal): Promise<void> {
  for (const deadline = performance.now() + leaseMs + SLACK_MS; ; await sleep(POLL_MS, signal)) {
    const [row] = await sql<{ held: boolean }[]>`
      select exists (select from positions where ${leaseIsHeld(sql)})
        or exists (select from timeline_lease where ${leaseIsHeld(sql)}) as held`
    if (!row?.held || signal.aborted) return
    if (performance.now() > deadline)
      throw new CommandError(
        'workers_running',
        'Workers are running. Stop all workers and front doors, then run this command again',
      )
  }
}
