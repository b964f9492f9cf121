import { ClickHouseError } from '@clickhouse/client'
import { isFullDiskError } from './full-disk.ts'
import type { ClickHouseClient } from './clickhouse.ts'

/** Nobody waits for an insert, and sharing it out among threads costs more than it brings. */
export const ONE_THREAD = ['max_threads = 1', 'max_insert_threads = 1', 'input_format_parallel_parsing = 0']

/**
 * Every setting that exactness hangs on is said in the statement: defaults change between versions (26.2 turned
 * `async_insert` on), and a setting that stayed behind from another query cannot reach it. One insert is one block, and
 * one block with one token changes the table and its view once.
 */
export const INSERT_SETTINGS = [
  'async_insert = 0',
  'insert_deduplicate = 1',
  'deduplicate_blocks_in_dependent_materialized_views = 1',
  'min_insert_block_size_rows = 1000000',
  'min_insert_block_size_bytes = 268435456',
  'input_format_null_as_default = 0',
  'input_format_skip_unknown_fields = 1',
  'input_format_allow_errors_num = 0',
  'input_format_json_throw_on_bad_escape_sequence = 1',
  'precise_float_parsing = 1',
  ...ONE_THREAD,
].join(', ')

/**
 * The lines that ClickHouse cannot read, found by halving. Nothing is stored meanwhile: a part that was inserted on its
 * own would have a token of its own, and a crash (or a ClickHouse that reads differently after an upgrade) could then
 * bring the same event in twice, in its part and in its group.
 */
export async function findFaultyLines(
  clickhouse: ClickHouseClient,
  lines: string[],
  signal?: AbortSignal,
  table: 'events_check' | 'web_events_check' = 'events_check',
): Promise<FaultyLine[]> {
  const [line] = lines
  if (line === undefined) return []
  try {
    await insertLines(clickhouse, `insert into ${table} settings ${INSERT_SETTINGS}`, lines, signal)
    return []
  } catch (error) {
    if (!isDataFault(error)) throw error
    if (lines.length === 1) return [{ line, reason: describeFault(error) }]
  }
  const middle = Math.ceil(lines.length / 2)
  const first = await findFaultyLines(clickhouse, lines.slice(0, middle), signal, table)
  return [...first, ...(await findFaultyLines(clickhouse, lines.slice(middle), signal, table))]
}

export interface FaultyLine {
  line: string
  reason: string
}

const DATA_FAULTS =
  /^(CANNOT_PARSE_\w+|CANNOT_READ_ALL_DATA|CANNOT_READ_ARRAY_FROM_TEXT|CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN|INCORRECT_DATA|TYPE_MISMATCH|ARGUMENT_OUT_OF_BOUND|DECIMAL_OVERFLOW|TOO_LARGE_STRING_SIZE|VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE)$/

/** True when the data are at fault; everything else (connections, memory, disk) is trouble that passes. */
export function isDataFault(error: unknown): boolean {
  return error instanceof ClickHouseError && DATA_FAULTS.test(error.type ?? '')
}

/** What went wrong, without the data: a message of ClickHouse quotes the row that it could not read. */
export function describeFault(error: unknown): string {
  if (error instanceof ClickHouseError) {
    const hint = isFullDiskError(error) ? ': its disk is full' : ''
    return `ClickHouse: ${error.type ?? 'error'} (${error.code})${hint}`
  }
  return error instanceof Error ? error.message : String(error)
}

export async function insertLines(
  clickhouse: ClickHouseClient,
  insert: string,
  lines: string[],
  signal: AbortSignal | undefined,
) {
  const query = `${insert} format JSONEachRow\n${lines.join('\n')}`
  await clickhouse.command({ query, ...(signal && { abort_signal: signal }) })
}
