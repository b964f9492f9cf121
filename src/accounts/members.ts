/** The members of a business. change-members.ts changes them. */
import type { Queryable, Sql } from '../stores/postgres.ts'
import { type Transaction, inTransaction } from '../stores/transaction.ts'
import type { Role } from './rights.ts'
import { lockUser } from './users.ts'

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

export async function listMembers(sql: Queryable, businessId: string): Promise<Member[]> {
  return sql<Member[]>`
    select u.id as "userId", u.email, u.name, m.role, u.totp_confirmed as "hasTotp", m.created_at as "createdAt",
      (select max(seen_at) from sessions s where s.user_id = u.id) as "seenAt"
    from memberships m join users u on u.id = m.user_id
    where m.business_id = ${businessId} order by u.email`
}

/** `unchanged`: the member has the role already. `not_found`: the business or the user has been removed. */
export type RoleOutcome = 'done' | 'unchanged' | 'not_found' | 'too_many'

/**
 * Adds a member, or changes the role of a member. Call it in a transaction of `changePeople`, and record it there. The
 * database throws for a business that would have no owner.
 */
export async function setRole(sql: Queryable, businessId: string, userId: string, role: Role): Promise<RoleOutcome> {
  if (!(await lockBusiness(sql, businessId)) || !(await lockUser(sql, userId))) return 'not_found'
  const [{ others }] = await sql<[{ others: number }]>`
    select count(*)::int as others from memberships where business_id = ${businessId} and user_id <> ${userId}`
  if (others >= MAX_MEMBERS) return 'too_many'
  const { count } = await sql`
    insert into memberships as m (business_id, user_id, role) values (${businessId}, ${userId}, ${role})
    on conflict (business_id, user_id) do update set role = excluded.role where m.role <> excluded.role`
  return count > 0 ? 'done' : 'unchanged'
}

/**
 * Everything that changes who is in a business takes this lock first, then those of users, members and links: otherwise
 * two such changes could wait for each other. Returns false when the business has been removed.
 */
export async function lockBusiness(tx: Queryable, businessId: string): Promise<boolean> {
  const [found] = await tx`select from businesses where id = ${businessId} and removed_at is null for no key update`
  return found !== undefined
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
 * Changes people in a transaction. To undo what it did so far, `change` throws `refuse(outcome)`: that is the outcome
 * then. `last_owner`: the database refuses a change that leaves a business without an owner
 * (sql/postgres/0003_accounts.sql).
 */
export async function changePeople<Done, Refused = never>(
  sql: Sql,
  change: (tx: Transaction, refuse: (outcome: Refused) => Error) => Promise<Done>,
): Promise<Done | Refused | { kind: 'last_owner' }> {
  const refused: Refused[] = []
  const refuse = (outcome: Refused): Error => {
    refused.push(outcome)
    return new Error('the change was refused')
  }
  try {
    return await inTransaction(sql, (tx) => change(tx, refuse))
  } catch (error) {
    if ((error as { constraint_name?: string }).constraint_name === 'business_has_owner') return { kind: 'last_owner' }
    const [outcome] = refused
    if (outcome === undefined) throw error
    return outcome
  }
}
