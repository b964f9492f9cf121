/**
 * The id of an installation, kept in both Postgres and ClickHouse. If ClickHouse belonged to another installation,
 * timelines of unknown businesses would be mixed with new ones, and could not be separated again.
 */
import { randomUUID } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import type { ClickHouseClient } from './clickhouse.ts'
import type { Sql } from './postgres.ts'

interface Stores {
  sql: Sql | TransactionSql
  clickhouse: ClickHouseClient
}

interface Installation {
  id: string
  createdAt: Date
}

/** The stores belong to different installations. */
class InstallationError extends Error {
  override name = 'InstallationError'
}

/** Throws InstallationError when ClickHouse has any rows: they belong to another Postgres than this new, empty one. */
export async function requireEmptyClickHouse(clickhouse: ClickHouseClient): Promise<void> {
  const [table] = await query<{ name: string }>(
    clickhouse,
    'select name from system.tables where database = currentDatabase() and total_rows > 0 limit 1',
  )
  if (!table) return
  throw new InstallationError(
    `Postgres is empty, but the database ${clickhouse.databases.internal} of ClickHouse has data of an earlier installation. ` +
      'Nothing was changed. Restore the Postgres that belongs to it, or correct DATABASE_URL. ' +
      'To start anew, use an empty ClickHouse: another database in CLICKHOUSE_URL, or, without CLICKHOUSE_URL, ' +
      'move the folder clickhouse out of DATA_DIR.',
  )
}

/** The clients whose ClickHouse was found to belong to the same installation as Postgres. */
const checked = new WeakSet<ClickHouseClient>()

/**
 * Throws InstallationError when the stores have different ids. Accepts a store without an id: `migrate` writes it.
 * Reads the ids only until both have been found for a client.
 */
export async function requireSameInstallation(stores: Stores): Promise<void> {
  if (checked.has(stores.clickhouse)) return
  const [postgres, clickhouse] = await readBoth(stores)
  if (postgres && clickhouse && postgres.id !== clickhouse.id)
    throw new InstallationError(
      `Postgres and ClickHouse belong to different installations: Postgres to ${describe(postgres)}, ClickHouse to ` +
        `${describe(clickhouse)}. Correct DATABASE_URL or CLICKHOUSE_URL, restore the backup of the one that is wrong, ` +
        'or use an empty ClickHouse.',
    )
  if (postgres && clickhouse) checked.add(stores.clickhouse)
}

/** Writes the id to each store that has none. The caller holds the migration lock. */
export async function recordInstallation(stores: Stores): Promise<void> {
  const [postgres, clickhouse] = await readBoth(stores)
  const { id, createdAt } = postgres ?? clickhouse ?? { id: randomUUID(), createdAt: new Date() }
  if (!postgres) await stores.sql`insert into installation (id, created_at) values (${id}, ${createdAt})`
  if (!clickhouse)
    await stores.clickhouse.insert({
      table: 'installation',
      values: [{ id, created_ms: createdAt.getTime() }],
      format: 'JSONEachRow',
    })
}

const describe = ({ id, createdAt }: Installation): string => `${id} (created ${createdAt.toISOString()})`

function readBoth({ sql, clickhouse }: Stores): Promise<[postgres?: Installation, clickhouse?: Installation]> {
  return Promise.all([readFromPostgres(sql), readFromClickHouse(clickhouse)])
}

async function readFromPostgres(sql: Sql | TransactionSql): Promise<Installation | undefined> {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass('installation') is not null as exists`
  if (!table?.exists) return undefined
  const [row] = await sql<Installation[]>`select id, created_at as "createdAt" from installation`
  return row
}

async function readFromClickHouse(clickhouse: ClickHouseClient): Promise<Installation | undefined> {
  const [table] = await query<{ result: number }>(clickhouse, 'exists table installation')
  if (!table?.result) return undefined
  const [row] = await query<{ id: string; created_ms: string }>(clickhouse, 'select id, created_ms from installation')
  return row && { id: row.id, createdAt: new Date(Number(row.created_ms)) }
}

async function query<Row>(clickhouse: ClickHouseClient, text: string): Promise<Row[]> {
  return await (await clickhouse.query({ query: text, format: 'JSONEachRow' })).json<Row>()
}
