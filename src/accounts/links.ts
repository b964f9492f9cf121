/** One-time links: they sign people in, let them choose a new password, or invite them to a business. */
import { uuidv7 } from 'uuidv7'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { ROLES, type Role, can } from './rights.ts'
import { createToken, hashToken } from './tokens.ts'

export const LINK_HOURS = { 'sign-in': 24, reset: 1, invitation: 7 * 24 } as const
export type LinkKind = keyof typeof LINK_HOURS

/** Maximum links per address, not counting invitations. The oldest is deleted first. */
const MAX_LINKS = 5
export const MAX_INVITATIONS = 100

export interface AccountLink {
  kind: LinkKind
  email: string
  invitation: { businessId: string; businessName: string; role: Role } | null
  /** Whether it shows that the person has the mailbox, or that an operator vouches for them. */
  provesAddress: boolean
}

/** Creates a link and resolves with its token. */
export async function createLink(sql: Queryable, kind: 'sign-in' | 'reset', email: string): Promise<string> {
  const token = createToken()
  await sql`
    insert into account_links (token_hash, id, kind, email, expires_at)
    values (${hashToken(token)}, ${uuidv7()}, ${kind}, ${email}, now() + ${`${LINK_HOURS[kind]} hours`}::interval)`
  await sql`
    delete from account_links where expires_at < now() or id in (
      select id from account_links where email = ${email} and kind <> 'invitation'
      order by created_at desc offset ${MAX_LINKS})`
  return token
}

export interface NewInvitation {
  businessId: string
  email: string
  role: Role
  /** The person who invites: id and email. */
  invitedBy: { id: string; name: string }
  /** Whether the link goes to the mailbox alone, and not to the person who invites. */
  isMailed?: boolean
}

/** Creates an invitation, as `addInvitation` does, and resolves with the token of its link; null without one. */
export async function createInvitation(sql: Sql, invitation: NewInvitation): Promise<string | null> {
  const created = await inTransaction(sql, (tx) => addInvitation(tx, invitation))
  return typeof created === 'string' ? null : created.token
}

/**
 * Creates an invitation, and replaces a pending one for the same person. Call it in a transaction. `full`: too many are
 * pending. `not_permitted`: the person who invites has lost the right to.
 */
export async function addInvitation(
  tx: Queryable,
  { businessId, email, role, invitedBy, isMailed = false }: NewInvitation,
): Promise<{ id: string; token: string } | 'full' | 'not_permitted'> {
  const [id, token] = [uuidv7(), createToken()]
  // Concurrent invitations run one after another, so that the limit holds. A change that takes the right from the person waits
  // for this transaction, and then revokes the invitation.
  await lockBusiness(tx, businessId)
  await tx`select from users where id = ${invitedBy.id} for share`
  const [right] = await tx`
    select from (select ${invitedBy.id}::uuid as invited_by_id, ${businessId}::uuid as business_id) l where ${mayInvite(tx)}`
  if (right === undefined) return 'not_permitted'
  const [{ pending }] = await tx<[{ pending: number }]>`
    select count(*)::int as pending from account_links
    where business_id = ${businessId} and expires_at > now() and email <> ${email}`
  if (pending >= MAX_INVITATIONS) return 'full'
  await tx`delete from account_links where business_id = ${businessId} and (email = ${email} or expires_at < now())`
  await tx`
    insert into account_links (token_hash, id, kind, email, business_id, role, invited_by, invited_by_id, is_mailed, expires_at)
    values (${hashToken(token)}, ${id}, 'invitation', ${email}, ${businessId}, ${role}, ${invitedBy.name}, ${invitedBy.id},
      ${isMailed}, now() + ${`${LINK_HOURS.invitation} hours`}::interval)`
  return { id, token }
}

const INVITING_ROLES = ROLES.filter((role) => can(role, 'people:write'))

/** Whether the person who made the invitation `l` may still invite. */
const mayInvite = (sql: Queryable) => sql`
  exists (select from users i where i.id = l.invited_by_id and (i.is_operator or exists (
    select from memberships m where m.user_id = i.id and m.business_id = l.business_id and m.role in ${sql(INVITING_ROLES)})))`

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

/**
 * Everything that changes who is in a business takes this lock first, then those of users, members and links: otherwise
 * two such changes could wait for each other.
 */
export async function lockBusiness(tx: Queryable, businessId: string): Promise<void> {
  await tx`select from businesses where id = ${businessId} for no key update`
}

/** Resolves with null when the link is unknown, used or expired. */
export async function readLink(sql: Queryable, token: string): Promise<AccountLink | null> {
  const [found] = await sql<Found[]>`
    select l.kind, l.email, l.business_id as "businessId", b.name as "businessName", l.role,
      l.kind <> 'invitation' or l.is_mailed as "provesAddress"
    from account_links l left join businesses b on b.id = l.business_id
    where l.token_hash = ${hashToken(token)} and l.expires_at > now() and b.removed_at is null
      and (l.kind <> 'invitation' or ${mayInvite(sql)})`
  if (found === undefined) return null
  const { kind, email, businessId, businessName, role, provesAddress } = found
  const invitation = businessId !== null && role !== null && { businessId, businessName: businessName ?? '', role }
  return { kind, email, invitation: invitation || null, provesAddress }
}

interface Found {
  kind: LinkKind
  email: string
  businessId: string | null
  businessName: string | null
  role: Role | null
  provesAddress: boolean
}

/**
 * Redeems the link: resolves with true for only one caller. Call it in the transaction of the action that the link
 * allows.
 */
export async function redeemLink(sql: Queryable, token: string): Promise<boolean> {
  const { count } = await sql`
    delete from account_links l where l.token_hash = ${hashToken(token)} and l.expires_at > now()
      and (l.kind <> 'invitation' or ${mayInvite(sql)})`
  return count > 0
}

/** Deletes all links of an address except invitations: a new password makes older links invalid. */
export async function removeLinks(sql: Queryable, email: string): Promise<void> {
  await sql`delete from account_links where email = ${email} and kind <> 'invitation'`
}
