/**
 * Restricts a statement written by a person to the rows of one business, with ClickHouse settings that the statement
 * cannot change. ClickHouse adds the condition to every table and view that it reads, whatever name the statement uses,
 * including the tables behind a view with parameters.
 */
import { QUERY_PRIORITY, STATEMENT_LIMITS } from '../rules/statement-limits.ts'
import { textLiteral } from './clickhouse-literal.ts'

/** All tables and views with rows of businesses; `databases` are literals. */
export const tablesOfBusinesses = (databases: string[]): string =>
  `SELECT concat(database, '.', table) FROM system.columns
  WHERE name = 'business_id' AND database IN (${databases.map(textLiteral).join(', ')}) ORDER BY 1`

/**
 * Executes the statement in the order in which it is written: ClickHouse filters each table first, and the statement
 * sees only the remaining rows. Otherwise ClickHouse might evaluate a condition of the statement before that of the
 * business, and an error such as "cannot parse 'Ann'" would reveal rows of other businesses. Table keys are still used.
 */
const AS_WRITTEN = {
  query_plan_enable_optimizations: '0',
  query_plan_filter_push_down: '0',
  query_plan_merge_filters: '0',
  query_plan_optimize_prewhere: '0',
  optimize_move_to_prewhere: '0',
  enable_optimize_predicate_expression: '0',
  enable_join_runtime_filters: '0',
}

/** Far larger than `STATEMENT_LIMITS.bytes`, because numbers can be shorter in the response than in memory. */
const RESULT_BYTES = 8 * STATEMENT_LIMITS.bytes

/** `tables`: names with their databases. `businessId`: a UUID. */
export function settingsForBusiness(tables: readonly string[], businessId: string): Record<string, string> {
  if (tables.length === 0) throw new Error('No table to restrict')
  const condition = textLiteral(`business_id = '${businessId}'`)
  return {
    additional_table_filters: `{${tables.map((table) => `${textLiteral(table)}: ${condition}`).join(', ')}}`,
    ...AS_WRITTEN,
    max_execution_time: String(STATEMENT_LIMITS.seconds),
    max_memory_usage: String(STATEMENT_LIMITS.memoryBytes),
    max_threads: String(STATEMENT_LIMITS.threads),
    priority: QUERY_PRIORITY.statement,
    // ClickHouse stops the statement soon after these limits; the excess is cut off later.
    max_result_rows: String(STATEMENT_LIMITS.rows + 1),
    max_result_bytes: String(RESULT_BYTES),
    result_overflow_mode: 'break',
    // Blocks larger than a result would be useless.
    max_block_size: '8192',
  }
}
