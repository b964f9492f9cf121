/** One-time links: they sign people in, let them choose a new password, or invite them to a business (invitations.ts). */
import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../stores/postgres.ts'
import { mayInvite } from './invitations.ts'
import type { Role } from './rights.ts'
import { createToken, hashToken } from './tokens.ts'

export const LINK_HOURS = { 'sign-in': 24, reset: 1 } as const
type LinkKind = keyof typeof LINK_HOURS | 'invitation'

/** Maximum links per address, not counting invitations. The oldest is deleted first. */
const MAX_LINKS = 5

export interface AccountLink {
  kind: LinkKind
  email: string
  invitation: { businessId: string; businessName: string; role: Role } | null
  /** Whether it shows that the person has the mailbox, or that an operator vouches for them. */
  provesAddress: boolean
}

/** Creates a link and resolves with its token. */
export async function createLink(sql: Queryable, kind: keyof typeof LINK_HOURS, email: string): Promise<string> {
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
