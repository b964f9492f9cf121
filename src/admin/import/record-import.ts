import { hasBusiness } from '../../businesses/businesses.ts'
import { type Config, ConfigError } from '../../config.ts'
import { unreachableCode } from '../../stores/require-stores.ts'
import { withPostgres } from '../open-postgres.ts'
import { recordCommand } from '../record-command.ts'
import type { Plan } from './prepare-rows.ts'

/** Of a Postgres that is not that of the business: it knows no such user or database, or has no tables of Sluice. */
const OF_ANOTHER = /^(28|3D)|^42P01$/

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
    const isAway = error instanceof ConfigError || unreachableCode(error) !== undefined
    if (!isAway && !OF_ANOTHER.test(String((error as { code?: unknown }).code))) throw error
  }
}
