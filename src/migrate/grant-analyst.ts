import type { Logger } from '../log.ts'
import { listClickHouse } from './migrate.ts'
import { type ClickHouseClient, type Databases, quoteName } from '../stores/clickhouse.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'

const SETTINGS =
  'readonly = 1, max_execution_time = 60, max_memory_usage = 1073741824, max_threads = 2, max_result_bytes = 268435456'

/**
 * Returns the name of the analysts' user. Different databases on one server need different users, because each
 * installation sets its own password.
 */
export const analystName = ({ public: database }: Databases): string =>
  database === 'sluice' ? 'analyst' : `analyst_${database}`

/**
 * Returns the statements that give an analyst access to a ClickHouse server. All can be repeated. The views need no
 * grants on their tables.
 */
export async function analystStatements({ databases }: ClickHouseClient, password: string): Promise<string[]> {
  const views = (await listClickHouse()).filter(({ database }) => database === 'public')
  const analyst = quoteName(analystName(databases))
  const identified = `identified with sha256_password by ${textLiteral(password)}`
  return [
    `create user if not exists ${analyst} ${identified} settings ${SETTINGS}`,
    `alter user ${analyst} ${identified} settings ${SETTINGS}`,
    ...views.map(({ name }) => `grant select on ${quoteName(databases.public)}.${quoteName(name)} to ${analyst}`),
  ]
}

/**
 * Creates the analysts' user, or sets its password, and grants it the public views. If the migrating user may not do
 * that, this logs the statements for an administrator and does not fail.
 */
export async function grantAnalyst(clickhouse: ClickHouseClient, log: Logger, password: string): Promise<void> {
  const user = analystName(clickhouse.databases)
  try {
    for (const query of await analystStatements(clickhouse, password)) await clickhouse.command({ query })
    log.info({ user }, 'the user for analysts can read the public views of ClickHouse')
  } catch (error) {
    // The driver's error contains the statement with the password.
    const reason = error instanceof Error && 'type' in error ? String(error.type) : 'ClickHouse did not answer'
    const statements = await analystStatements(clickhouse, '…')
    log.warn(
      { user, reason, statements },
      'the user for analysts could not be set up: run these statements as an administrator of ClickHouse',
    )
  }
}
