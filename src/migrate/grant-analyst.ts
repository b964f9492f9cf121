import type { Logger } from '../log.ts'
import { listClickHouse } from './migrate.ts'
import { type ClickHouseClient, type Databases, quoteName } from '../stores/clickhouse.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'

const SETTINGS =
  'readonly = 1, max_execution_time = 60, max_memory_usage = 1073741824, max_threads = 2, max_result_bytes = 268435456'

/** Databases of one server have different names, and so do their analysts: each installation sets the password of its own. */
export const analystName = ({ public: database }: Databases): string =>
  database === 'sluice' ? 'analyst' : `analyst_${database}`

/** What lets an analyst into a ClickHouse server: each can be repeated. The views need no rights on what they read. */
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
 * Makes the analysts' user, or gives it this password, and grants it the public views. Where the migrating user may not, the log says
 * what an administrator has to run; nothing fails.
 */
export async function grantAnalyst(clickhouse: ClickHouseClient, log: Logger, password: string): Promise<void> {
  const user = analystName(clickhouse.databases)
  try {
    for (const query of await analystStatements(clickhouse, password)) await clickhouse.command({ query })
    log.info({ user }, 'this user may read the public views of ClickHouse')
  } catch (error) {
    // The driver's error carries the statement, and so the password.
    const reason = error instanceof Error && 'type' in error ? String(error.type) : 'ClickHouse did not answer'
    const statements = await analystStatements(clickhouse, '…')
    log.warn(
      { user, reason, statements },
      'the user for analysts was not made: run these statements as an administrator of ClickHouse',
    )
  }
}
