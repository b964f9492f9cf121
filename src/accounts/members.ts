/** The members of a business, and its invitations. */
import type { Queryable } from '../stores/postgres.ts'
import { lockBusiness } from './links.ts'
import type { Role } from './rights.ts'

export const MAX_MEMBERS = 500

export interface Member {
  userId: string
  email: string
  name: string
  role: Role
  hasTotp: boolean
  createdAt: Date
  /** Last use of the dashboard, accurate to some minutes; null without a session. */
  seenAt: Date | null
}

export interface Invitation {
  id: string
  email: string
  role: Role
  invitedBy: string
  createdAt: Date
  expiresAt: Date
}

export async function listMembers(sql: Queryable, businessId: string): Promise<Member[]> {
  return sql<Member[]>`
    select u.id as "userId", u.email, u.name, m.role, u.totp_confirmed as "hasTotp", m.created_at as "createdAt",
      (select max(seen_at) from sessions s where s.user_id = u.id) as "seenAt"
    from memberships m join users u on u.id = m.user_id
    where m.business_id = ${businessId} order by u.email`
}

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

/** Returns the address that was invited; null when there is no such invitation. */
export async function removeInvitation(sql: Queryable, businessId: string, id: string): Promise<string | null> {
  const [removed] = await sql<{ email: string }[]>`
    delete from account_links where business_id = ${businessId} and id = ${id} returning email`
  return removed?.email ?? null
}

export type MemberChange = 'done' | 'not_found' | 'last_owner' | 'too_many'

/** Adds a member, or changes the role of a member. */
export function setRole(sql: Queryable, businessId: string, userId: string, role: Role): Promise<MemberChange> {
  return keepOwner(async () => {
    await lockBusiness(sql, businessId)
    const [{ others }] = await sql<[{ others: number }]>`
      select count(*)::int as others from memberships where business_id = ${businessId} and user_id <> ${userId}`
    if (others >= MAX_MEMBERS) return 'too_many'
    await sql`
      insert into memberships (business_id, user_id, role) values (${businessId}, ${userId}, ${role})
      on conflict (business_id, user_id) do update set role = excluded.role`
    return 'done'
  })
}

/**
 * Changes the role of an existing member. This and the next two take rights away: call `revokeLostInvitations` after
 * them, in the same transaction.
 */
export function changeRole(sql: Queryable, businessId: string, userId: string, role: Role): Promise<MemberChange> {
  return keepOwner(async () => {
    await lockBusiness(sql, businessId)
    const { count } = await sql`
      update memberships set role = ${role} where business_id = ${businessId} and user_id = ${userId}`
    return count > 0 ? 'done' : 'not_found'
  })
}

export function removeMember(sql: Queryable, businessId: string, userId: string): Promise<MemberChange> {
  return keepOwner(async () => {
    await lockBusiness(sql, businessId)
    const { count } = await sql`delete from memberships where business_id = ${businessId} and user_id = ${userId}`
    return count > 0 ? 'done' : 'not_found'
  })
}

/** Deletes a user with their sessions, roles and links. Revokes open invitations of the address. */
export function deletePerson(sql: Queryable, userId: string): Promise<MemberChange> {
  return keepOwner(async () => {
    await lockBusinessesOf(sql, userId)
    const [deleted] = await sql<{ email: string }[]>`delete from users where id = ${userId} returning email`
    if (deleted === undefined) return 'not_found'
    await sql`delete from account_links where email = ${deleted.email}`
    return 'done'
  })
}

/** Locks the businesses of a user, and another one, in the order that all callers follow. */
export async function lockBusinessesOf(sql: Queryable, userId: string, another: string | null = null): Promise<void> {
  await sql`
    select from businesses where id = ${another} or id in (select business_id from memberships where user_id = ${userId})
    order by id for no key update`
}

/** Lists the businesses whose only owner is this user. */
export async function listOnlyOwned(sql: Queryable, userId: string): Promise<{ id: string; name: string }[]> {
  return sql<{ id: string; name: string }[]>`
    select b.id, b.name from memberships m join businesses b on b.id = m.business_id
    where m.user_id = ${userId} and m.role = 'owner' and b.removed_at is null and not exists (
      select from memberships o where o.business_id = m.business_id and o.role = 'owner' and o.user_id <> m.user_id)
    order by b.name, b.id`
}

/**
 * The database refuses a change that leaves a business without an owner (sql/postgres/0003_accounts.sql). Returns
 * `last_owner` then.
 */
export async function keepOwner(change: () => Promise<MemberChange>): Promise<MemberChange> {
  try {
    return await change()
  } catch (error) {
    if ((error as { constraint_name?: string }).constraint_name === 'business_has_owner') return 'last_owner'
    throw error
  }
}
