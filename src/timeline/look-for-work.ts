import type { Sql } from '../stores/postgres.ts'

/** What Postgres holds for the timeline worker to do. */
export interface Waiting {
  /** Rows of the outbox, whatever is to become of them. */
  rows: boolean
  /** People whom ClickHouse is to forget. */
  erasures: boolean
  /** Visits of theirs, to be deleted from web events, or once more after an hour. */
  visits: boolean
  /** Told by whoever shipped last. */
  trouble: boolean
}

export interface Outlook {
  /** In one round trip: at rest nothing else is asked. */
  look(): Promise<Waiting>
  /** As of the last look; anything may wait when that is long ago. */
  seen(): Waiting
}

const SEEN_MS = 2000
const ANYTHING: Waiting = { rows: true, erasures: true, visits: true, trouble: true }

export function createOutlook(sql: Sql): Outlook {
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

async function lookForWork(sql: Sql): Promise<Waiting> {
  const [waiting] = await sql<[Waiting]>`
    select
      exists (select from outbox where shipped_at is null) as rows,
      exists (select from erasures where deleted_at is null) as erasures,
      exists (select from erased_visits where swept_at is null) as visits,
      exists (select from timeline_lease where trouble is not null) as trouble`
  return waiting
}
