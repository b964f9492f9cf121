import { type PendingWork, pendingWorkColumns, type Lease } from './lease.ts'
import type { Sql } from '../stores/postgres.ts'

export interface PendingWorkWatcher {
  look(): Promise<PendingWork>
  /** What the next renewal of the lease finds; undefined when none does within `ms`, or at `signal`. */
  next(ms: number, signal: AbortSignal): Promise<PendingWork | undefined>
  /** As of the last look; anything may wait when that is long ago. */
  seen(): PendingWork
}

const SEEN_MS = 2000
const ANYTHING: PendingWork = { rows: true, erasures: true, visits: true, trouble: true }

export function watchPendingWork(sql: Sql, { nextLook }: Pick<Lease, 'nextLook'>): PendingWorkWatcher {
  let last = { waiting: ANYTHING, at: -Infinity }
  const remember = <Found extends PendingWork | undefined>(waiting: Found): Found => {
    if (waiting) last = { waiting, at: performance.now() }
    return waiting
  }
  return {
    look: async () => remember(await lookForWork(sql)),
    next: async (...within) => remember(await nextLook(...within)),
    seen: () => (performance.now() < last.at + SEEN_MS ? last.waiting : ANYTHING),
  }
}

async function lookForWork(sql: Sql): Promise<PendingWork> {
  const [waiting] = await sql<[PendingWork]>`select ${pendingWorkColumns(sql)}`
  return waiting
}
