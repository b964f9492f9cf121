import type { Config } from '../config.ts'
import { resolveStores } from '../stores/data-dir.ts'
import { connectPostgres, type Sql } from '../stores/postgres.ts'

/** Calls `use` with one connection, then closes it. Needs only the address of Postgres. */
export async function withPostgres<Result>(config: Config, use: (sql: Sql) => Promise<Result>): Promise<Result> {
  const databaseUrl = config.databaseUrl ?? (await resolveStores(config)).databaseUrl
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-admin' })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
