/** Invitations to a business: links of seven days. links.ts reads and redeems them. */
import { uuidv7 } from 'uuidv7'
import { type Actor, type Change, type PersonActor, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { lockBusiness } from './members.ts'
import { ROLES, type Role, can } from './rights.ts'
import { createToken, hashToken } from './tokens.ts'

export const INVITATION_HOURS = 7 * 24
/** Of a business, open at the same time. */
export const MAX_INVITATIONS = 100

export interface Invitation {
  id: string
  email: string
  role: Role
  invitedBy: string
  createdAt: Date
  expiresAt: Date
}

export interface NewInvitation {
  email: string
  role: Role
  /** Whether the link goes to the mailbox alone, and not to the person who invites. */
  isMailed?: boolean
}

/** `full`: too many are open. `not_permitted`: the person who invites has lost the right to. */
export type InviteOutcome =
  | { kind: 'invited'; id: string; token: string }
  | { kind: 'full' }
  | { kind: 'not_permitted' }

/** The business, and the person who invites to it. */
interface Inviting extends Change {
  actor: PersonActor
}

/** Invites a person, and replaces an open invitation of the same person. */
export const createInvitation = (sql: Sql, inviting: Inviting, invitation: NewInvitation): Promise<InviteOutcome> =>
  inTransaction(sql, (tx) => addInvitation(tx, inviting, invitation))

/** Does what `createInvitation` does, in a transaction that makes other changes too. */
export async function addInvitation(
  tx: Queryable,
  { businessId, actor }: Inviting,
  { email, role, isMailed = false }: NewInvitation,
): Promise<InviteOutcome> {
  const [id, token] = [uuidv7(), createToken()]
  // Concurrent invitations run one after another, so that the limit holds. A change that takes the right from the person waits
  // for this transaction, and then revokes the invitation.
  if (!(await lockBusiness(tx, businessId))) return { kind: 'not_permitted' }
  await tx`select from users where id = ${actor.id} for share`
  const [right] = await tx`
    select from (select ${actor.id}::uuid as invited_by_id, ${businessId}::uuid as business_id) l where ${mayInvite(tx)}`
  if (right === undefined) return { kind: 'not_permitted' }
  const [{ pending }] = await tx<[{ pending: number }]>`
    select count(*)::int as pending from account_links
    where business_id = ${businessId} and expires_at > now() and email <> ${email}`
  if (pending >= MAX_INVITATIONS) return { kind: 'full' }
  await tx`delete from account_links where business_id = ${businessId} and (email = ${email} or expires_at < now())`
  await tx`
    insert into account_links (token_hash, id, kind, email, business_id, role, invited_by, invited_by_id, is_mailed, expires_at)
    values (${hashToken(token)}, ${id}, 'invitation', ${email}, ${businessId}, ${role}, ${actor.name}, ${actor.id},
      ${isMailed}, now() + ${`${INVITATION_HOURS} hours`}::interval)`
  await recordAudit(tx, { businessId, actor, action: 'person.invite', target: id, details: { email, role } })
  return { kind: 'invited', id, token }
}

const INVITING_ROLES = ROLES.filter((role) => can(role, 'people:write'))

/** Whether the person who made the invitation `l` may still invite. */
export const mayInvite = (sql: Queryable) => sql`
  exists (select from users i where i.id = l.invited_by_id and (i.is_operator or exists (
    select from memberships m where m.user_id = i.id and m.business_id = l.business_id and m.role in ${sql(INVITING_ROLES)})))`

export async function listInvitations(sql: Queryable, businessId: string): Promise<Invitation[]> {
  return sql<Invitation[]>`
    select id, email, role, invited_by as "invitedBy", created_at as "createdAt", expires_at as "expiresAt"
    from account_links where business_id = ${businessId} and expires_at > now() order by email`
}

export async function findInvitation(
  sql: Queryable,
  businessId: string,
  id: string,
): Promise<{ email: string; role: Role } | null> {
  const [found] = await sql<{ email: string; role: Role }[]>`
    select email, role from account_links where business_id = ${businessId} and id = ${id} and expires_at > now()`
  return found ?? null
}

export async function revokeInvitation(
  sql: Sql,
  { businessId, actor }: Change,
  id: string,
): Promise<{ kind: 'revoked' } | { kind: 'not_found' }> {
  return await inTransaction(sql, async (tx) => {
    const [removed] = await tx<{ email: string }[]>`
      delete from account_links where business_id = ${businessId} and id = ${id} returning email`
    if (removed === undefined) return { kind: 'not_found' }
    const { email } = removed
    await recordAudit(tx, { businessId, actor, action: 'invitation.revoke', target: id, details: { email } })
    return { kind: 'revoked' }
  })
}

/**
 * Revokes the open invitations of a person in each business in which they may no longer invite. Call it in the
 * transaction that takes the right from them, after the change. Returns the invited addresses.
 */
export async function revokeLostInvitations(tx: Queryable, inviterId: string, actor: Actor): Promise<string[]> {
  const lost = await tx<{ id: string; businessId: string; email: string; invitedBy: string; isOpen: boolean }[]>`
    delete from account_links l where l.invited_by_id = ${inviterId} and not ${mayInvite(tx)}
    returning id, business_id as "businessId", email, invited_by as "invitedBy", expires_at > now() as "isOpen"`
  const open = lost.filter(({ isOpen }) => isOpen)
  for (const { id, businessId, email, invitedBy } of open) {
    const details = { email, invitedBy }
    await recordAudit(tx, { businessId, actor, action: 'invitation.revoke', target: id, details })
  }
  return open.map(({ email }) => email).toSorted()
}
