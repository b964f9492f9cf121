import { listClickHouse } from '../../migrate/migrate.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { queryClickHouse } from './clickhouse-facts.ts'
import type { Difference } from './difference.ts'
import { listBusinesses } from './list-businesses.ts'

/** Tables and views that ClickHouse lacks. Without all of them, nothing can be compared. */
export async function checkTables(clickhouse: ClickHouseClient): Promise<Difference[]> {
  const { databases } = clickhouse
  const rows = await queryClickHouse<{ database: string; name: string }>(
    clickhouse,
    `select database, name from system.tables where database in (${Object.values(databases).map(textLiteral).join(', ')})`,
  )
  const there = new Set(rows.map(({ database, name }) => `${database}.${name}`))
  return (await listClickHouse())
    .map(({ database, name }) => `${databases[database]}.${name}`)
    .filter((name) => !there.has(name))
    .map((name) => ({
      kind: 'table',
      businessId: null,
      contactId: null,
      name,
      postgres: null,
      clickhouse: null,
      note: 'ClickHouse does not have this table or view',
    }))
}

/** Businesses that have data in ClickHouse and do not exist in Postgres. Reads ClickHouse first: a business may be new. */
export async function checkBusinesses(deps: { sql: Sql; clickhouse: ClickHouseClient }): Promise<Difference[]> {
  const rows = await queryClickHouse<{ id: string }>(
    deps.clickhouse,
    `select distinct toString(business_id) as id from (
      select business_id from events group by business_id
      union all select business_id from event_statistics group by business_id
      union all select business_id from contact_snapshots group by business_id
    )`,
  )
  const ids = new Set(await listBusinesses(deps.sql))
  return rows
    .filter(({ id }) => !ids.has(id))
    .map(({ id }) => ({
      kind: 'business',
      businessId: id,
      contactId: null,
      name: '',
      postgres: null,
      clickhouse: 'has data',
      note: 'Postgres does not know this business',
    }))
}
