/**
 * Users of a ClickHouse server for the SQL page, one per business. Each user can read only the public views, and only
 * the rows of its business. A user with `readonly = 1` cannot change its settings, so a statement cannot lift the
 * restriction.
 */
import { createHmac } from 'node:crypto'
import { analystName } from '../../migrate/grant-analyst.ts'
import { type ClickHouseClient, type Databases, quoteName } from '../../stores/clickhouse.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import { settingsForBusiness, tablesOfBusinesses } from '../../stores/restrict-to-business.ts'

export interface BusinessUser {
  name: string
  password: string
}

/** Every front door derives the same password. It cannot be derived without ANALYST_PASSWORD. */
export const businessUserOf = (databases: Databases, businessId: string, analystPassword: string): BusinessUser => ({
  name: `${analystName(databases)}_${businessId}`,
  password: createHmac('sha256', analystPassword).update(`sql page ${businessId}`).digest('hex'),
})

/**
 * Stops a statement when its client disconnects. Server versions name this differently, but all of them stop such a
 * statement.
 */
const STOP = { cancel_http_readonly_queries_on_client_close: '1' }

/**
 * Returns the statements that create the user or bring it up to date. Each can be repeated. Views with parameters are
 * left out: their business is an argument, and whether the restriction reaches their tables has only been tested in the
 * engine of `start`.
 */
export function businessUserStatements(
  databases: Databases,
  { name, password }: BusinessUser,
  businessId: string,
  tables: string[],
): string[] {
  const settings = { ...settingsForBusiness(tables, businessId), ...STOP, readonly: '1' }
  const listed = Object.entries(settings).map(([setting, value]) => `${setting} = ${textLiteral(value)}`)
  const user = quoteName(name)
  const identified = `identified with sha256_password by ${textLiteral(password)} settings ${listed.join(', ')}`
  const views = tables.filter((table) => table.startsWith(`${databases.public}.`))
  return [
    `create user if not exists ${user} ${identified}`,
    `alter user ${user} ${identified}`,
    ...views.map((view) => `grant select on ${view.split('.').map(quoteName).join('.')} to ${user}`),
  ]
}

/** Rejects when the user of CLICKHOUSE_URL may not create users. */
export async function ensureBusinessUser(
  clickhouse: ClickHouseClient,
  user: BusinessUser,
  businessId: string,
): Promise<void> {
  const { databases } = clickhouse
  const query = tablesOfBusinesses([databases.public, databases.internal])
  const found = await clickhouse.query({ query, format: 'JSONCompactEachRow' })
  const tables = (await found.json<[string]>()).map(([table]) => table)
  for (const statement of businessUserStatements(databases, user, businessId, tables))
    await clickhouse.command({ query: statement })
}
