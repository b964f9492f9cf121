import type { Sql } from '../stores/postgres.ts'
import type { Lease } from './lease.ts'

/** What Postgres holds for the timeline worker to do. */
export interface PendingWork {
  /** Rows of the outbox, whatever is to become of them. */
  rows: boolean
  /** People whom ClickHouse is to forget. */
  erasures: boolean
  /** Visits of theirs, to be deleted from web events, or once more after an hour. */
  visits: boolean
  /** Told by whoever shipped last. */
  trouble: boolean
}

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
  const note = <Found extends PendingWork | undefined>(waiting: Found): Found => {
    if (waiting) last = { waiting, at: performance.now() }
    return waiting
  }
  return {
    look: async () => note(await lookForWork(sql)),
    next: async (...within) => note(await nextLook(...within)),
    seen: () => (performance.now() < last.at + SEEN_MS ? last.waiting : ANYTHING),
  }
}

async function lookForWork(sql: Sql): Promise<PendingWork> {
  const [waiting] = await sql<[PendingWork]>`select ${pendingWorkColumns(sql)}`
  return waiting
}

/** The columns of `PendingWork`. */
export const pendingWorkColumns = (sql: Sql) => sql`
  exists (select from outbox where shipped_at is null) as rows,
  exists (select from erasures where deleted_at is null) as erasures,
  exists (select from erased_visits where swept_at is null) as visits,
  exists (select from timeline_lease where trouble is not null) as trouble`
