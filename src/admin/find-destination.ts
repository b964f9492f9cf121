/** Opens the resources for commands on one destination. */
import type { Config } from '../config.ts'
import { resolveStores } from '../stores/data-dir.ts'
import { type SealedDestination, findDestination } from '../deliveries/destinations.ts'
import { type TargetGuard, guardOfCommand } from '../outbound/target-guard.ts'
import type { Sql } from '../stores/postgres.ts'
import { type CommandArguments, CommandError } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { checkId } from './read-option.ts'

export async function withDestination<Result>(
  config: Config,
  args: CommandArguments,
  use: (sql: Sql, found: SealedDestination) => Promise<Result>,
): Promise<Result> {
  const id = checkId('ID', args.positional(0))
  return withPostgres(config, async (sql) => {
    return use(sql, await requireDestination(sql, id))
  })
}

export async function requireDestination(sql: Sql, id: string): Promise<SealedDestination> {
  const found = await findDestination(sql, id)
  if (!found)
    throw new CommandError('destination_not_found', `There is no destination ${id}. To see all: admin destination list`)
  return found
}

/** Returns a guard that refuses the same targets as the workers. */
export const openGuard = async (config: Config, sql: Sql): Promise<TargetGuard> =>
  guardOfCommand({ ...config, ...(await resolveStores(config)) }, sql)
