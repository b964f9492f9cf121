/** What an operator changes in the accounts of others. second-factor.ts removes the second factor. */
import { type Actor, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { revokeLostInvitations } from './invitations.ts'
import { createLink, removeLinks } from './links.ts'
import { changePeople, listOnlyOwned, lockBusiness, lockBusinessesOf, setRole } from './members.ts'
import type { Role } from './rights.ts'
import { endSessions } from './sessions.ts'
import { type UserName, countOperators, createUser, lockUser } from './users.ts'

interface NewUser {
  email: string
  isOperator: boolean
  /** A first role in a business. */
  membership: { businessId: string; role: Role } | null
}

/** `token`: of a link that signs the person in. `not_found`: there is no such business. */
type AddOutcome = { kind: 'added'; token: string } | AddRefusal | { kind: 'last_owner' }
type AddRefusal = { kind: 'not_found' } | { kind: 'user_exists' } | { kind: 'too_many' }

export function addUser(sql: Sql, actor: Actor, { email, isOperator, membership }: NewUser): Promise<AddOutcome> {
  return changePeople<AddOutcome, AddRefusal>(sql, async (tx, refuse) => {
    if (membership !== null && !(await lockBusiness(tx, membership.businessId))) return { kind: 'not_found' }
    const id = await createUser(tx, { email, isOperator })
    if (id === null) return { kind: 'user_exists' }
    if (membership !== null) {
      const kind = await setRole(tx, membership.businessId, id, membership.role)
      if (kind === 'not_found' || kind === 'too_many') throw refuse({ kind })
    }
    const details = { email, ...(membership && { role: membership.role }), ...(isOperator && { isOperator }) }
    const businessId = membership?.businessId ?? null
    await recordAudit(tx, { businessId, actor, action: 'person.create', target: id, details })
    return { kind: 'added', token: await createLink(tx, 'sign-in', email) }
  })
}

/** Returns the token of a link that signs the user in. */
export const linkUser = (sql: Sql, actor: Actor, user: UserName): Promise<string> =>
  inTransaction(sql, async (tx) => {
    await recordChange(tx, actor, 'person.link', user)
    return createLink(tx, 'sign-in', user.email)
  })

/** `operators`: the number of operators afterwards. `revokedInvitations`: the invited addresses. */
interface OperatorOutcome {
  operators: number
  revokedInvitations: string[]
}

/** Makes a user an operator, or an ordinary user. */
export const setOperator = (
  sql: Sql,
  actor: Actor,
  user: UserName,
  isOperator: boolean,
): Promise<({ kind: 'done' } & OperatorOutcome) | { kind: 'not_found' }> =>
  inTransaction(sql, async (tx) => {
    if (!(await lockUser(tx, user.id))) return { kind: 'not_found' }
    const { count } = await tx`
      update users set is_operator = ${isOperator} where id = ${user.id} and is_operator <> ${isOperator}`
    const action = isOperator ? 'person.grant-operator' : 'person.revoke-operator'
    if (count > 0) await recordChange(tx, actor, action, user)
    const revokedInvitations = isOperator ? [] : await revokeLostInvitations(tx, user.id, actor)
    return { kind: 'done', revokedInvitations, operators: await countOperators(tx) }
  })

/** Ends all sessions of a user, and deletes their links. `ended`: the number of sessions. */
export const endUserSessions = (
  sql: Sql,
  actor: Actor,
  user: UserName,
): Promise<{ kind: 'done'; ended: number } | { kind: 'not_found' }> =>
  inTransaction(sql, async (tx) => {
    if (!(await lockUser(tx, user.id))) return { kind: 'not_found' }
    await removeLinks(tx, user.email)
    await recordChange(tx, actor, 'person.end-sessions', user)
    return { kind: 'done', ended: await endSessions(tx, user.id) }
  })

/** `last_owner` names the businesses that would have no owner; it may have become none. */
type DeleteOutcome =
  | ({ kind: 'deleted' } & OperatorOutcome)
  | { kind: 'not_found' }
  | { kind: 'last_owner'; businesses: { id: string; name: string }[] }

/** Deletes a user with their sessions, roles and links. Revokes open invitations of the address. */
export async function deleteUser(sql: Sql, actor: Actor, user: UserName): Promise<DeleteOutcome> {
  const outcome = await changePeople<DeleteOutcome>(sql, async (tx) => {
    await lockBusinessesOf(tx, user.id)
    const [deleted] = await tx<{ email: string }[]>`delete from users where id = ${user.id} returning email`
    if (deleted === undefined) return { kind: 'not_found' }
    await tx`delete from account_links where email = ${deleted.email}`
    await recordChange(tx, actor, 'person.delete', user)
    const revokedInvitations = await revokeLostInvitations(tx, user.id, actor)
    return { kind: 'deleted', revokedInvitations, operators: await countOperators(tx) }
  })
  // Reads the current businesses, because another owner may have been removed in the meantime.
  return outcome.kind === 'last_owner' ? { ...outcome, businesses: await listOnlyOwned(sql, user.id) } : outcome
}

const recordChange = (tx: Queryable, actor: Actor, action: string, { id, email }: UserName): Promise<void> =>
  recordAudit(tx, { businessId: null, actor, action, target: id, details: { email } })
