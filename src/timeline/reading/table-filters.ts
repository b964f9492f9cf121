import { textLiteral } from '../../stores/clickhouse-literal.ts'

/**
 * Returns a setting for reading a view: conditions by table, in SQL. A condition on a view reaches only the first of
 * the tables that it joins. These conditions reach all of them, and their keys.
 */
export function additionalTableFilters(conditions: Record<string, string>): string {
  const filters = Object.entries(conditions).map(
    ([table, condition]) => `${textLiteral(table)}: ${textLiteral(condition)}`,
  )
  return `additional_table_filters = {${filters.join(', ')}}`
}
