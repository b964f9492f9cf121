import type { Sql } from '../stores/postgres.ts'
import type { Lease } from './lease.ts'

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
  look(): Promise<Waiting>
  /** What the next renewal of the lease finds; undefined when none does within `ms`, or at `signal`. */
  next(ms: number, signal: AbortSignal): Promise<Waiting | undefined>
  /** As of the last look; anything may wait when that is long ago. */
  seen(): Waiting
}

const SEEN_MS = 2000
const ANYTHING: Waiting = { rows: true, erasures: true, visits: true, trouble: true }

export function createOutlook(sql: Sql, { nextLook }: Pick<Lease, 'nextLook'>): Outlook {
  let last = { waiting: ANYTHING, at: -Infinity }
  const note = <Found extends Waiting | undefined>(waiting: Found): Found => {
    if (waiting) last = { waiting, at: performance.now() }
    return waiting
  }
  return {
    look: async () => note(await lookForWork(sql)),
    next: async (...within) => note(await nextLook(...within)),
    seen: () => (performance.now() < last.at + SEEN_MS ? last.waiting : ANYTHING),
  }
}

async function lookForWork(sql: Sql): Promise<Waiting> {
  const [waiting] = await sql<[Waiting]>`select ${whatWaits(sql)}`
  return waiting
}

/** The columns of `Waiting`. */
export const whatWaits = (sql: Sql) => sql`
  exists (select from outbox where shipped_at is null) as rows,
  exists (select from erasures where deleted_at is null) as erasures,
  exists (select from erased_visits where swept_at is null) as visits,
  exists (select from timeline_lease where trouble is not null) as trouble`
