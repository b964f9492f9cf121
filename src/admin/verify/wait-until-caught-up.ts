import type { Sql } from '../../stores/postgres.ts'
import { waitUntilFewer } from './wait-until-fewer.ts'

/** If more saves than this are not shipped yet, too many contacts cannot be compared. */
const MAX_WAITING = 5000

/** Resolves when the shipper has nearly caught up. Throws CommandError when it makes no progress. */
export async function waitUntilCaughtUp(deps: {
  sql: Sql
  signal: AbortSignal
  showStatus(text: string): void
}): Promise<void> {
  await waitUntilFewer(deps, {
    count: () => countWaiting(deps.sql),
    max: MAX_WAITING,
    describe: (waiting) => `waiting for ClickHouse to catch up: ${waiting} saves`,
    stalled: (waiting) =>
      `${waiting} saves wait for ClickHouse, and their number does not decrease. Check the workers and ClickHouse`,
  })
}

async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from outbox where shipped_at is null`
  return row?.rows ?? 0
}
