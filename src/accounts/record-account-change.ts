/**
 * Records what people change in their own accounts. It uses the audit log of the installation, since an account belongs
 * to no business.
 */
import { recordAudit } from '../audit/audit.ts'
import type { Queryable } from '../stores/postgres.ts'
import type { UserName } from './users.ts'

type AccountChange =
  | 'name'
  | 'email'
  | 'password'
  | 'password-reset'
  | 'sign-in-link'
  | 'start-anew'
  | 'second-factor-on'
  | 'second-factor-off'
  | 'end-session'

/** Call it in the transaction of the change. `details` must contain neither passwords nor codes. */
export function recordAccountChange(
  sql: Queryable,
  { id, email }: UserName,
  change: AccountChange,
  details: Record<string, unknown> = {},
): Promise<void> {
  const actor = { kind: 'user', id, name: email } as const
  return recordAudit(sql, { businessId: null, actor, action: `account.${change}`, target: id, details })
}
