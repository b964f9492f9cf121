import type { Sql } from '../../stores/postgres.ts'

/** The work in Postgres that waits for the timeline worker. */
export interface PendingWork {
  /** Rows of the outbox have to be sent or sent again. */
  rows: boolean
  /** People have to be deleted from ClickHouse. */
  erasures: boolean
  /** Visits of erased people have to be deleted from web events, or deleted again after an hour. */
  visits: boolean
  /** The worker that shipped last reported a failure. */
  trouble: boolean
}

export interface PendingWorkWatcher {
  look(): Promise<PendingWork>
  /** The result of the last look. If that was too long ago, everything counts as waiting. */
  seen(): PendingWork
}

const SEEN_MS = 2000
const ANYTHING: PendingWork = { rows: true, erasures: true, visits: true, trouble: true }

export function watchPendingWork(sql: Sql): PendingWorkWatcher {
  let last = { waiting: ANYTHING, at: -Infinity }
  return {
    async look() {
      const waiting = await lookForWork(sql)
      last = { waiting, at: performance.now() }
      return waiting
    },
    seen: () => (performance.now() < last.at + SEEN_MS ? last.waiting : ANYTHING),
  }
}

async function lookForWork(sql: Sql): Promise<PendingWork> {
  const [waiting] = await sql<[PendingWork]>`
    select exists (select from outbox where shipped_at is null) as rows,
      exists (select from erasures where deleted_at is null) as erasures,
      exists (select from erased_visits where swept_at is null) as visits,
      exists (select from timeline_lease where trouble is not null) as trouble`
  return waiting
}
