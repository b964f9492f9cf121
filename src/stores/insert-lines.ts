import { ClickHouseError } from '@clickhouse/client'
import { isFullDiskError } from './full-disk.ts'
import type { ClickHouseClient } from './clickhouse.ts'

/** No request waits for an insert, and splitting it between threads costs more than it saves. */
export const ONE_THREAD = ['max_threads = 1', 'max_insert_threads = 1', 'input_format_parallel_parsing = 0']

/**
 * Each statement sets everything that exactness depends on: defaults change between versions (26.2 turned
 * `async_insert` on), and settings left by another query must have no effect. One insert is one block, and a block with
 * a given token changes the table and its view only once.
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
 * Finds the lines that ClickHouse cannot read, by bisection. Stores nothing: a part inserted separately would have its
 * own token, and after a crash (or an upgrade of ClickHouse that reads lines differently) the same event could be
 * stored twice, with its part and with its group.
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

/** Returns whether the data is wrong; everything else (connections, memory, disk) is temporary trouble. */
export function isDataFault(error: unknown): boolean {
  return error instanceof ClickHouseError && DATA_FAULTS.test(error.type ?? '')
}

/** Describes the error without data: ClickHouse's own messages quote the row that it could not read. */
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
