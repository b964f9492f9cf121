/** The people who use the dashboard. */
import { randomBytes } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { trimText } from '../rules/events/text.ts'
import type { Queryable } from '../stores/postgres.ts'
import { hashToken } from './tokens.ts'
import { matchTotp } from './totp.ts'

export interface User {
  id: string
  email: string
  name: string
  isOperator: boolean
  hasTotp: boolean
  hasPassword: boolean
}

/** The data that a sign-in is checked against. */
export interface Credentials extends User {
  passwordHash: string | null
  /** Encrypted; null without a second factor. */
  totpSecret: string | null
}

/** Address of the first operator until their first link is opened. */
export const PLACEHOLDER_EMAIL = 'operator@localhost'

const MAX_EMAIL = 254
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 8

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
      case when u.totp_confirmed then u.totp_secret end as "totpSecret"
    from users u where u.email = ${email}`
  return found ?? null
}

/** Returns the address of a user; null when there is none. */
export async function readEmailOf(sql: Queryable, id: string): Promise<string | null> {
  const [found] = await sql<{ email: string }[]>`select email from users where id = ${id}`
  return found?.email ?? null
}

/** Creates a user. Resolves with the id, or with null when the address is taken. */
export async function createUser(
  sql: Queryable,
  user: { email: string; name?: string; passwordHash?: string; isOperator?: boolean },
): Promise<string | null> {
  const { email, name = '', passwordHash = null, isOperator = false } = user
  const [created] = await sql<{ id: string }[]>`
    insert into users (id, email, name, password_hash, is_operator)
    values (${uuidv7()}, ${email}, ${name}, ${passwordHash}, ${isOperator})
    on conflict (email) do nothing returning id`
  return created?.id ?? null
}

export async function updateUser(
  sql: Queryable,
  id: string,
  { email, name, passwordHash }: { email?: string; name?: string; passwordHash?: string },
): Promise<void> {
  await sql`
    update users set email = coalesce(${email ?? null}, email), name = coalesce(${name ?? null}, name),
      password_hash = coalesce(${passwordHash ?? null}, password_hash)
    where id = ${id}`
}

export async function setOperator(sql: Queryable, id: string, isOperator: boolean): Promise<void> {
  await sql`update users set is_operator = ${isOperator} where id = ${id}`
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

/**
 * Stores an encrypted secret, which is used once one of its codes is confirmed. Does nothing when there already is a
 * confirmed secret.
 */
export async function startTotp(sql: Queryable, id: string, sealed: string): Promise<void> {
  await sql`update users set totp_secret = ${sealed}, totp_last_step = 0 where id = ${id} and not totp_confirmed`
}

export async function readTotpSecret(
  sql: Queryable,
  id: string,
): Promise<{ secret: string | null; isConfirmed: boolean }> {
  const [found] = await sql<{ secret: string | null; isConfirmed: boolean }[]>`
    select totp_secret as secret, totp_confirmed as "isConfirmed" from users where id = ${id}`
  return found ?? { secret: null, isConfirmed: false }
}

/** Confirms the secret and resolves with the recovery codes. They are not available later. */
export async function confirmTotp(sql: Queryable, id: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomBytes(RECOVERY_BYTES).toString('hex'))
  const hashes = `{${codes.map((code) => `"\\\\x${hashToken(code).toString('hex')}"`).join(',')}}`
  await sql`update users set totp_confirmed = true, recovery_hashes = ${hashes}::bytea[] where id = ${id}`
  return codes
}

export async function removeTotp(sql: Queryable, id: string): Promise<void> {
  await sql`
    update users set totp_secret = null, totp_confirmed = false, totp_last_step = 0, recovery_hashes = '{}'
    where id = ${id}`
}

/** Accepts a code of the app or a recovery code. Each can be used once. `secret`: decrypted. */
export async function redeemSecondFactor(
  sql: Queryable,
  { id, secret, code, now }: { id: string; secret: string; code: string; now: number },
): Promise<boolean> {
  const step = matchTotp(secret, code, now)
  if (step === null) return takeRecoveryCode(sql, id, code)
  const { count } = await sql`update users set totp_last_step = ${step} where id = ${id} and totp_last_step < ${step}`
  return count > 0
}

async function takeRecoveryCode(sql: Queryable, id: string, code: string): Promise<boolean> {
  const hash = hashToken(code.replaceAll(/[\s-]/g, '').toLowerCase())
  const { count } = await sql`
    update users set recovery_hashes = array_remove(recovery_hashes, ${hash}::bytea)
    where id = ${id} and ${hash}::bytea = any (recovery_hashes)`
  return count > 0
}
