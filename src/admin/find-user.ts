/** Reads the email in a command line, and finds its user. */
import { type Credentials, findCredentials, readEmail } from '../accounts/users.ts'
import type { Queryable } from '../stores/postgres.ts'
import { type CommandArguments, CommandError, UsageError } from './command.ts'

/** Returns the first argument, trimmed and in lower case. Throws UsageError. */
export function checkEmail(args: CommandArguments): string {
  const email = readEmail(args.positional(0))
  if (email === null) throw new UsageError(`EMAIL must be an email address, not "${args.positional(0)}"`)
  return email
}

export async function requireUser(sql: Queryable, email: string): Promise<Credentials> {
  const user = await findCredentials(sql, email)
  if (user === null) throw userNotFound(email)
  return user
}

export const userNotFound = (email: string) =>
  new CommandError('user_not_found', `There is no user ${email}. To see all: admin user list`)
