/** The people who use the dashboard. */
import { uuidv7 } from 'uuidv7'
import { trimText } from '../rules/events/text.ts'
import type { Queryable } from '../stores/postgres.ts'

export interface User {
  id: string
  email: string
  name: string
  isOperator: boolean
  hasTotp: boolean
  hasPassword: boolean
}

/** What the audit log names a user by. */
export type UserName = Pick<User, 'id' | 'email'>

/** The data that a sign-in is checked against. */
export interface Credentials extends User {
  passwordHash: string | null
  /** Encrypted; null without a second factor. */
  totpSecret: string | null
  /**
   * False when only an invitation that was passed on by hand made the account: the person who chose its password need
   * not have the mailbox. True of every operator.
   */
  hasProvenEmail: boolean
}

/** Address of the first operator until their first link is opened. */
export const PLACEHOLDER_EMAIL = 'operator@localhost'

const MAX_EMAIL = 254

/** Trims and lower-cases an address. Returns null when the text is not an address. */
export function readEmail(text: string): string | null {
  const email = trimText(text).toLowerCase()
  return email.length <= MAX_EMAIL && /^[^\s@<>"',;]+@[^\s@<>"',;]+$/.test(email) ? email : null
}

const columns = (sql: Queryable) => sql`
  u.id, u.email, u.name, u.is_operator as "isOperator", u.totp_confirmed as "hasTotp",
  u.password_hash is not null as "hasPassword"`

/** Columns of `users u`, for queries that join them. */
export { columns as userColumns }

export async function findCredentials(sql: Queryable, email: string): Promise<Credentials | null> {
  const [found] = await sql<Credentials[]>`
    select ${columns(sql)}, u.password_hash as "passwordHash",
      u.email_proven or u.is_operator as "hasProvenEmail",
      case when u.totp_confirmed then u.totp_secret end as "totpSecret"
    from users u where u.email = ${email}`
  return found ?? null
}

/** Returns the address of a user; null when there is none. */
export async function readEmailOf(sql: Queryable, id: string): Promise<string | null> {
  const [found] = await sql<{ email: string }[]>`select email from users where id = ${id}`
  return found?.email ?? null
}

/** Locks a user against changes and deletion. Returns false when there is none. Lock their businesses first (members.ts). */
export async function lockUser(tx: Queryable, id: string): Promise<boolean> {
  const [found] = await tx`select from users where id = ${id} for no key update`
  return found !== undefined
}

/** Creates a user. Resolves with the id, or with null when the address is taken. */
export async function createUser(
  sql: Queryable,
  user: { email: string; name?: string; passwordHash?: string; isOperator?: boolean; hasProvenEmail?: boolean },
): Promise<string | null> {
  const { email, name = '', passwordHash = null, isOperator = false, hasProvenEmail = false } = user
  const [created] = await sql<{ id: string }[]>`
    insert into users (id, email, name, password_hash, is_operator, email_proven)
    values (${uuidv7()}, ${email}, ${name}, ${passwordHash}, ${isOperator}, ${hasProvenEmail})
    on conflict (email) do nothing returning id`
  return created?.id ?? null
}

export async function updateUser(
  sql: Queryable,
  id: string,
  {
    email,
    name,
    passwordHash,
    hasProvenEmail = false,
  }: { email?: string; name?: string; passwordHash?: string; hasProvenEmail?: boolean },
): Promise<void> {
  await sql`
    update users set email = coalesce(${email ?? null}, email), name = coalesce(${name ?? null}, name),
      password_hash = coalesce(${passwordHash ?? null}, password_hash), email_proven = email_proven or ${hasProvenEmail}
    where id = ${id}`
}

export async function countOperators(sql: Queryable): Promise<number> {
  const [{ operators }] = await sql<[{ operators: number }]>`
    select count(*)::int as operators from users where is_operator`
  return operators
}

export async function listUsers(sql: Queryable): Promise<(User & { createdAt: Date })[]> {
  return sql<(User & { createdAt: Date })[]>`
    select ${columns(sql)}, u.created_at as "createdAt" from users u order by u.email`
}
