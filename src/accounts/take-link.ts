/** Uses a link up: for a sign-in, a new password, or a role in a business. */
import { recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { type AccountLink, redeemLink, removeLinks } from './links.ts'
import { changePeople, lockBusiness, setRole } from './members.ts'
import { recordAccountChange } from './record-account-change.ts'
import { endSessions } from './sessions.ts'
import { startAnew } from './start-anew.ts'
import { type Credentials, type UserName, createUser, lockUser, updateUser } from './users.ts'

/** What a link changes in the account. */
export interface AccountFields {
  hasProvenEmail?: boolean
  email?: string
  name?: string
  passwordHash?: string
}

interface Taken {
  link: AccountLink
  token: string
  /** The account with the address of the link; null when there is none. */
  user: Credentials | null
  /** Whether the account is given up first, for the person who has its mailbox (start-anew.ts). */
  isAnew: boolean
  wanted: AccountFields
}

/** `other_account`: the account does not start anew. */
type TakeRefusal = { kind: 'link_expired' } | { kind: 'other_account' } | { kind: 'too_many' }

/** Each refusal changes nothing, and leaves the link as it was. */
export function takeLink(
  sql: Sql,
  { link, token, user, isAnew, wanted }: Taken,
): Promise<{ kind: 'taken' } | TakeRefusal | { kind: 'last_owner' }> {
  const { invitation, email } = link
  return changePeople<{ kind: 'taken' }, TakeRefusal>(sql, async (tx, refuse) => {
    if (isAnew) {
      const isGivenUp = user !== null && invitation !== null && (await startAnew(tx, user, invitation.businessId))
      if (!isGivenUp) throw refuse({ kind: 'other_account' })
    } else if (invitation !== null) await lockBusiness(tx, invitation.businessId)
    // The user may have been removed in the meantime. Other changes also lock the user before the links.
    if (user !== null && !(await lockUser(tx, user.id))) throw refuse({ kind: 'link_expired' })
    if (!(await redeemLink(tx, token))) throw refuse({ kind: 'link_expired' })
    const id = user?.id ?? (invitation && (await createUser(tx, { email, ...wanted })))
    if (id === null) throw refuse({ kind: 'link_expired' })
    if (user !== null) await updateUser(tx, id, wanted)
    if (user !== null && wanted.passwordHash !== undefined) {
      await endSessions(tx, id)
      await removeLinks(tx, email)
    }
    if (invitation !== null) {
      const { businessId, role } = invitation
      const kind = await setRole(tx, businessId, id, role)
      if (kind === 'not_found') throw refuse({ kind: 'link_expired' })
      if (kind === 'too_many') throw refuse({ kind })
      const actor = { kind: 'user', id, name: email } as const
      await recordAudit(tx, { businessId, actor, action: 'person.join', target: id, details: { role } })
    }
    await recordUse(tx, link, { id, email: wanted.email ?? email }, wanted)
    return { kind: 'taken' }
  })
}

/** Invitations are not recorded here: the audit log of the business has them. */
async function recordUse(
  tx: Queryable,
  { kind }: AccountLink,
  user: UserName,
  { email, passwordHash }: AccountFields,
): Promise<void> {
  if (email !== undefined) await recordAccountChange(tx, user, 'email', { email })
  if (kind === 'reset') await recordAccountChange(tx, user, 'password-reset')
  if (kind === 'sign-in')
    await recordAccountChange(tx, user, 'sign-in-link', { setsPassword: passwordHash !== undefined })
}
