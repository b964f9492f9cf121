import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { insertStates, type StatesTable } from '../../stores/insert-states.ts'

/** Number of rows read at first, while their size is unknown. */
const FIRST_PAGE = 100
/** Characters that are read at once (estimated) and inserted at once: some contacts contain megabytes. */
export const BATCH_CHARACTERS = 8 * 1024 * 1024

/** A ClickHouse table that shows the current state of something, and how to read this state from Postgres. */
export interface States<Key, Row> {
  table: StatesTable
  /** Maximum rows read at once: each may have the maximum size. */
  maxRows: number
  /** Reads the keys of everything that a group changed, each once. */
  readTouched(sql: Sql, groupId: string): Promise<Key[]>
  /** Reads the current state; rows that no longer exist are left out. */
  readRows(sql: Sql, keys: Key[]): Promise<Row[]>
  /**
   * Returns the position of the row's key, starting at 1. Needed when `readRows` may stop before the last key because
   * of `BATCH_CHARACTERS`.
   */
  placeOf?(row: Row): number
  /** Returns a JSON line of the table; a column that is absent is empty. */
  encode(row: Row): string
}

/**
 * Sends the current state of everything that a group changed. The state may be newer than the group, and rows that no
 * longer exist are left to the erasure. Neither matters, since the highest revision wins in ClickHouse. For the same
 * reason, inserts are not deduplicated: a repeat may have read a newer state than the first attempt.
 */
export async function sendStates<Key, Row>(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  { table, maxRows, readTouched, readRows, placeOf, encode }: States<Key, Row>,
  groupId: string,
  signal?: AbortSignal,
): Promise<void> {
  const touched = await readTouched(sql, groupId)
  let page = Math.min(FIRST_PAGE, maxRows)
  let waiting = { lines: [] as string[], length: 0 }
  for (let at = 0; at < touched.length;) {
    const keys = touched.slice(at, at + page)
    const rows = await readRows(sql, keys)
    const last = rows.at(-1)
    const read = placeOf && last ? placeOf(last) : keys.length
    const lines = rows.map(encode)
    const length = lines.reduce((sum, line) => sum + line.length, 0)
    waiting = { lines: [...waiting.lines, ...lines], length: waiting.length + length }
    at += read
    page = Math.max(1, Math.min(Math.floor((BATCH_CHARACTERS / Math.max(1, length)) * read), maxRows))
    if (waiting.length < BATCH_CHARACTERS) continue
    await insertStates(clickhouse, table, waiting.lines, signal)
    waiting = { lines: [], length: 0 }
  }
  await insertStates(clickhouse, table, waiting.lines, signal)
}
