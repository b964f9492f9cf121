/** What people change of their own accounts: in the audit log of the installation, since an account belongs to no business. */
import { recordAudit } from '../../../accounts/audit.ts'
import type { Queryable } from '../../../stores/postgres.ts'

export type AccountChange =
  | 'name'
  | 'email'
  | 'password'
  | 'password-reset'
  | 'sign-in-link'
  | 'second-factor-on'
  | 'second-factor-off'
  | 'end-session'

/** Call it in the transaction of the change. Neither passwords nor codes belong into `details`. */
export function recordAccountChange(
  sql: Queryable,
  { id, email }: { id: string; email: string },
  change: AccountChange,
  details: Record<string, unknown> = {},
): Promise<void> {
  const actor = { kind: 'user', id, name: email } as const
  return recordAudit(sql, { businessId: null, actor, action: `account.${change}`, target: id, details })
}
