import type { Sql } from '../../stores/postgres.ts'
import { waitUntilFewer } from './wait-until-fewer.ts'

/** With more saves than this on their way to ClickHouse, too many contacts could not be compared. */
const MOST_WAITING = 5000

/** Resolves when the shipper is about to have shipped all. Throws CommandError when nothing moves. */
export async function waitUntilCaughtUp(deps: {
  sql: Sql
  signal: AbortSignal
  say(text: string): void
}): Promise<void> {
  await waitUntilFewer(deps, {
    count: () => countWaiting(deps.sql),
    most: MOST_WAITING,
    words: (waiting) => `waiting for ClickHouse to catch up: ${waiting} saves`,
    stalled: (waiting) =>
      `${waiting} saves wait for ClickHouse and do not get fewer: are the workers and ClickHouse well?`,
  })
}

async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from outbox where shipped_at is null`
  return row?.rows ?? 0
}
