import { hasBusiness } from '../../businesses/businesses.ts'
import { type Config, ConfigError } from '../../config.ts'
import { unreachableCode } from '../../stores/require-stores.ts'
import { withPostgres } from '../open-postgres.ts'
import { recordCommand } from '../record-command.ts'
import type { Plan } from './prepare-rows.ts'

/** Error codes of another Postgres than that of the business: no such user or database, or no tables of Sluice. */
const OF_ANOTHER = /^(28|3D)|^42P01$/

/**
 * Writes the import to the audit log if the settings of the command lead to the Postgres of the business. On another
 * machine they may not, because a secret key is sufficient for an import. Call it when the first rows are taken: a
 * refused import is then not in the log, and one that is killed half-way is.
 */
export async function recordImport(config: Config, { businessId, mapping, survey }: Plan): Promise<void> {
  const fields = mapping.assignments.map(({ path }) => path.join('.'))
  const details = { fields, rows: survey.rows }
  const entry = { businessId, action: 'import.send', target: null, details }
  try {
    await withPostgres(config, async (sql) => {
      if (await hasBusiness(sql, businessId)) await recordCommand(sql, 'import', entry)
    })
  } catch (error) {
    const isAway = error instanceof ConfigError || unreachableCode(error) !== undefined
    if (!isAway && !OF_ANOTHER.test(String((error as { code?: unknown }).code))) throw error
  }
}
