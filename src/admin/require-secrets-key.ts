import type { Config } from '../config.ts'
import { isKeyOfStart } from '../stores/data-dir.ts'
import { SAME_KEY_REMEDY } from '../stores/seal-secret.ts'
import type { Sql } from '../stores/postgres.ts'
import { CommandError } from './command.ts'

/** For the help of a command that stores or opens secrets. */
export const SECRETS_KEY_NOTE =
  'Start the workers with the same SECRETS_KEY as this command; `start` sees to that itself.'

/** What the operator has to do about SECRETS_KEY, on a line of its own; empty when `start` has made the key. */
export const secretsKeyReminder = async (config: Config): Promise<string> =>
  (await isKeyOfStart(config)) ? '' : '\nStart the workers with the same SECRETS_KEY as this command.'

/** Returns the SECRETS_KEY. Throws CommandError when there is none. */
export async function requireSecretsKey(sql: Sql, { secretsKey }: Pick<Config, 'secretsKey'>): Promise<string> {
  if (secretsKey === undefined) throw await secretsKeyMissing(sql)
  return secretsKey
}

/** Suggests a new key only if no secret is sealed yet. */
export async function secretsKeyMissing(sql: Sql): Promise<CommandError> {
  const [{ isFirst }] = await sql<[{ isFirst: boolean }]>`
    select not exists (select from destinations) and not exists (select from channels where secret is not null)
      and not exists (select from users where totp_secret is not null) as "isFirst"`
  const remedy = isFirst
    ? 'make one with `openssl rand -hex 32`, start Sluice with it, and run this command with it'
    : SAME_KEY_REMEDY
  return new CommandError('secrets_key', `SECRETS_KEY is not set: ${remedy}`)
}
