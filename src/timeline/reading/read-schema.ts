/** The schema for SQL statements: the public views, as ClickHouse describes them. */
import { createTtlCache } from '../../async/ttl-cache.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { nullOnTimeout, selectWithinLimits } from './select-within-limits.ts'

export interface DescribedView {
  name: string
  description: string
  /** Empty for a view with parameters: ClickHouse lists no columns for it. */
  columns: { name: string; type: string; description: string }[]
}

/** It only changes with the version of Sluice. */
const schemas = createTtlCache<DescribedView[] | null>({ ms: 60_000, max: 10 })

/** Returns the views, sorted by name. Resolves with null when ClickHouse does not answer in time. */
export const readSchema = (clickhouse: ClickHouseClient): Promise<DescribedView[] | null> =>
  schemas(clickhouse.databases.public, () => nullOnTimeout((signal) => read(clickhouse, signal)))

async function read(clickhouse: ClickHouseClient, signal: AbortSignal): Promise<DescribedView[]> {
  const database = clickhouse.databases.public
  const [views, columns] = await Promise.all([
    selectWithinLimits<{ name: string; description: string }>(
      clickhouse,
      'select name, comment as description from system.tables where database = {database: String} order by name',
      { database },
      signal,
    ),
    selectWithinLimits<{ view: string; name: string; type: string; description: string }>(
      clickhouse,
      `select table as view, name, type, comment as description from system.columns
      where database = {database: String} order by table, position`,
      { database },
      signal,
    ),
  ])
  const byView = Map.groupBy(columns, ({ view }) => view)
  return views.map((view) => ({
    ...view,
    columns: (byView.get(view.name) ?? []).map(({ name, type, description }) => ({ name, type, description })),
  }))
}
