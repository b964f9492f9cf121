/** Reads the email in a command line, and finds its user. */
import type { Role } from '../accounts/rights.ts'
import { type Credentials, findCredentials, readEmail } from '../accounts/users.ts'
import type { Queryable } from '../stores/postgres.ts'
import { type CommandArguments, CommandError, UsageError } from './command.ts'

/** Returns the first argument, trimmed and in lower case. Throws UsageError. */
export function checkEmail(args: CommandArguments): string {
  const email = readEmail(args.positional(0))
  if (email === null) throw new UsageError(`EMAIL must be an email address, not "${args.positional(0)}"`)
  return email
}

/**
 * Returns a change to a user for the audit log, with their address. It may change later, or the user may be deleted.
 * `businessId` is null for a change to the installation.
 */
export const changeOf = (
  { id, email }: { id: string; email: string },
  action: string,
  { businessId = null, ...details }: { businessId?: string | null; role?: Role; isOperator?: boolean } = {},
) => ({ businessId, action, target: id, details: { email, ...details } })

export async function requireUser(sql: Queryable, email: string): Promise<Credentials> {
  const user = await findCredentials(sql, email)
  if (user === null) throw new CommandError('user_not_found', `There is no user ${email}. To see all: admin user list`)
  return user
}
