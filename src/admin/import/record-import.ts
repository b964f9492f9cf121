import { basename } from 'node:path'
import { commandActor } from '../../audit/command-actor.ts'
import { beginImport, countRows } from '../../accounts/import-audit.ts'
import { hasBusiness } from '../../businesses/businesses.ts'
import { type Config, ConfigError } from '../../config.ts'
import type { Sql } from '../../stores/postgres.ts'
import { unreachableCode } from '../../stores/require-stores.ts'
import { withPostgres } from '../open-postgres.ts'
import type { Totals } from './position.ts'
import type { Plan } from './prepare-rows.ts'

/**
 * Error codes of a Postgres that cannot be used: another one than that of the business (no such user or database, no
 * tables of Sluice), or one that is full, starting or stopping. The import itself needs none, and goes on.
 */
const UNUSABLE = /^(28|3D|53)|^(42P01|57P0[123])$/

/**
 * Writes the import to the audit log if the settings of the command lead to the Postgres of the business. On another
 * machine they may not, because a secret key is sufficient for an import. Call it before the first row is sent: an
 * import that is killed is then in the log, too.
 * @returns the id of the entry; null when there is none
 */
export async function recordBegin(
  config: Config,
  { businessId, mapping, survey }: Plan,
  path: string,
): Promise<number | null> {
  const fields = mapping.assignments.map((one) => one.path.join('.'))
  const begun = { businessId, actor: commandActor('admin import'), file: basename(path), fields, rows: survey.rows }
  return await ifReached(config, async (sql) =>
    (await hasBusiness(sql, businessId)) ? await beginImport(sql, begun) : null,
  )
}

/** Adds what became of the rows of this run to the entry. */
export async function recordEnd(config: Config, entryId: number | null, start: Totals, end: Totals): Promise<void> {
  if (entryId === null) return
  const counts = {
    sent: end.received - start.received,
    recorded: end.recorded - start.recorded,
    deduped: end.deduped - start.deduped,
    queued: 0,
    failed: end.failed - start.failed,
  }
  await ifReached(config, (sql) => countRows(sql, entryId, 0, counts))
}

/** Returns null when the Postgres of the business cannot be reached from here. */
async function ifReached<Result>(config: Config, work: (sql: Sql) => Promise<Result>): Promise<Result | null> {
  try {
    return await withPostgres(config, work)
  } catch (error) {
    const isAway = error instanceof ConfigError || unreachableCode(error) !== undefined
    if (!isAway && !UNUSABLE.test(String((error as { code?: unknown }).code))) throw error
    return null
  }
}
