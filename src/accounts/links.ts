/** One-time links: they sign people in, let them choose a new password, or invite them to a business. */
import { uuidv7 } from 'uuidv7'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import type { Role } from './rights.ts'
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
  /** The email of the person who invites. */
  invitedBy: string
}

/** Creates an invitation, as `addInvitation` does, and resolves with the token of its link. */
export async function createInvitation(sql: Sql, invitation: NewInvitation): Promise<string | null> {
  return (await inTransaction(sql, (tx) => addInvitation(tx, invitation)))?.token ?? null
}

/**
 * Creates an invitation, and replaces a pending one for the same person. Call it in a transaction. Resolves with null
 * when too many are pending.
 */
export async function addInvitation(
  tx: Queryable,
  { businessId, email, role, invitedBy }: NewInvitation,
): Promise<{ id: string; token: string } | null> {
  const [id, token] = [uuidv7(), createToken()]
  // The lock makes concurrent invitations run one after another, so that the limit holds.
  await tx`select from businesses where id = ${businessId} for no key update`
  const [{ pending }] = await tx<[{ pending: number }]>`
    select count(*)::int as pending from account_links
    where business_id = ${businessId} and expires_at > now() and email <> ${email}`
  if (pending >= MAX_INVITATIONS) return null
  await tx`delete from account_links where business_id = ${businessId} and (email = ${email} or expires_at < now())`
  await tx`
    insert into account_links (token_hash, id, kind, email, business_id, role, invited_by, expires_at)
    values (${hashToken(token)}, ${id}, 'invitation', ${email}, ${businessId}, ${role}, ${invitedBy},
      now() + ${`${LINK_HOURS.invitation} hours`}::interval)`
  return { id, token }
}

/** Resolves with null when the link is unknown, used or expired. */
export async function readLink(sql: Queryable, token: string): Promise<AccountLink | null> {
  const [found] = await sql<Found[]>`
    select l.kind, l.email, l.business_id as "businessId", b.name as "businessName", l.role
    from account_links l left join businesses b on b.id = l.business_id
    where l.token_hash = ${hashToken(token)} and l.expires_at > now() and b.removed_at is null`
  if (found === undefined) return null
  const { kind, email, businessId, businessName, role } = found
  const invitation = businessId !== null && role !== null && { businessId, businessName: businessName ?? '', role }
  return { kind, email, invitation: invitation || null }
}

interface Found {
  kind: LinkKind
  email: string
  businessId: string | null
  businessName: string | null
  role: Role | null
}

/**
 * Redeems the link: resolves with true for only one caller. Call it in the transaction of the action that the link
 * allows.
 */
export async function redeemLink(sql: Queryable, token: string): Promise<boolean> {
  const { count } = await sql`
    delete from account_links where token_hash = ${hashToken(token)} and expires_at > now()`
  return count > 0
}

/** Deletes all links of an address except invitations: a new password makes older links invalid. */
export async function removeLinks(sql: Queryable, email: string): Promise<void> {
  await sql`delete from account_links where email = ${email} and kind <> 'invitation'`
}
