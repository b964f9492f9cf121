import type { Sql } from '../../stores/postgres.ts'
import { pause } from '../../stream/pause.ts'
import { CommandError } from '../command.ts'

/** With more saves than this on their way to ClickHouse, too many contacts could not be compared. */
const MOST_WAITING = 5000
const POLL_MS = 500
const PATIENCE_MS = 120_000

/** Resolves when the shipper is about to have shipped all. Throws CommandError when it does not get nearer. */
export async function untilCaughtUp(deps: { sql: Sql; signal: AbortSignal; say(text: string): void }): Promise<void> {
  let least = Infinity
  let movedAt = performance.now()
  for (;;) {
    const waiting = await countWaiting(deps.sql)
    if (waiting <= MOST_WAITING || deps.signal.aborted) return
    if (waiting < least) [least, movedAt] = [waiting, performance.now()]
    if (performance.now() - movedAt > PATIENCE_MS)
      throw new CommandError(
        'stalled',
        `${waiting} saves wait for ClickHouse and do not get fewer: are the workers and ClickHouse well?`,
      )
    deps.say(`waiting for ClickHouse to catch up: ${waiting} saves`)
    await pause(POLL_MS, deps.signal)
  }
}

async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from outbox where shipped_at is null`
  return row?.rows ?? 0
}
