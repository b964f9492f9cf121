import { hasBusiness } from '../../businesses/businesses.ts'
import { type Config, ConfigError } from '../../config.ts'
import { unreachableCode } from '../../stores/require-stores.ts'
import { withPostgres } from '../open-postgres.ts'
import { recordCommand } from '../record-command.ts'
import type { Plan } from './prepare-rows.ts'

/**
 * Writes the import to the audit log, where the settings of the command lead to the Postgres of the business. From another
 * machine they may lead to none: a secret key is enough for an import.
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
    if (!(error instanceof ConfigError) && unreachableCode(error) === undefined) throw error
  }
}
