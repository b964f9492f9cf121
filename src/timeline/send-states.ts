import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { insertStates, type StatesTable } from './insert-states.ts'

/** Read at once as long as nothing is known of how large they are. */
const FIRST_PAGE = 100
/** Characters read at once, as far as can be foreseen, and inserted at once: some contacts hold megabytes. */
export const BATCH_CHARACTERS = 8 * 1024 * 1024

/** A table of ClickHouse that shows the present state of something, and how that is read from Postgres. */
export interface States<Key, Row> {
  table: StatesTable
  /** The most that are read at once: each of them may be as large as one can be. */
  maxRows: number
  /** What a group changed, each once. */
  readTouched(sql: Sql, groupId: string): Promise<Key[]>
  /** As it is now; what is gone is left out. */
  readRows(sql: Sql, keys: Key[]): Promise<Row[]>
  /** Where its key stands, from 1 on, when `readRows` may stop before the last key, at rows of `LENGTH` together. */
  placeOf?(row: Row): number
  /** A JSON line of the table; a column that is absent is empty. */
  encode(row: Row): string
}

/**
 * Sends the present state of all that a group changed. It may be newer than the group, and what is gone is left to the
 * erasure; neither matters, since the highest revision wins in ClickHouse. For the same reason no insert is taken for a
 * repeat: it may have read a newer state than the first attempt.
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
