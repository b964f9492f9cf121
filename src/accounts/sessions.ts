/** Sessions of the dashboard. A session ends after 14 days, and after 3 days without use. */
import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../stores/postgres.ts'
import type { Role } from './rights.ts'
import { createToken, hashToken } from './tokens.ts'
import { type User, userColumns } from './users.ts'

export const SESSION_DAYS = 14
const IDLE_DAYS = 3
/** Minutes between two records of use: most requests only read. */
const SEEN_MINUTES = 5
const MAX_SESSIONS_OF_USER = 50
const MAX_USER_AGENT = 400

export interface Session {
  id: string
  user: User
  confirmedAt: Date
  /** True when its use has to be recorded again. */
  isSeenStale: boolean
}

export interface ListedSession {
  id: string
  createdAt: Date
  seenAt: Date
  address: string
  userAgent: string
}

/** Creates a session and returns its token. The oldest sessions of the user end when there are too many. */
export async function createSession(
  sql: Queryable,
  userId: string,
  { address, userAgent }: { address: string; userAgent: string },
): Promise<string> {
  const token = createToken()
  await sql`
    insert into sessions (token_hash, id, user_id, expires_at, address, user_agent)
    values (${hashToken(token)}, ${uuidv7()}, ${userId}, now() + ${`${SESSION_DAYS} days`}::interval, ${address},
      ${userAgent.slice(0, MAX_USER_AGENT)})`
  await sql`
    delete from sessions where user_id = ${userId} and (expires_at < now() or id in (
      select id from sessions where user_id = ${userId} order by created_at desc offset ${MAX_SESSIONS_OF_USER}))`
  return token
}

/** Resolves with null for an unknown or ended session. */
export async function findSession(sql: Queryable, token: string): Promise<Session | null> {
  const [found] = await sql<(User & { sessionId: string; confirmedAt: Date; isSeenStale: boolean })[]>`
    select ${userColumns(sql)}, s.id as "sessionId", s.confirmed_at as "confirmedAt",
      s.seen_at < now() - ${`${SEEN_MINUTES} minutes`}::interval as "isSeenStale"
    from sessions s join users u on u.id = s.user_id
    where s.token_hash = ${hashToken(token)} and s.expires_at > now()
      and s.seen_at > now() - ${`${IDLE_DAYS} days`}::interval`
  if (found === undefined) return null
  const { sessionId, confirmedAt, isSeenStale, ...user } = found
  return { id: sessionId, user, confirmedAt, isSeenStale }
}

/** Records that a session is used. `language` is the language of the pages: the person's mails use it, too. */
export async function recordSessionUse(sql: Queryable, sessionId: string, language: string): Promise<void> {
  await sql`
    with used as (update sessions set seen_at = now() where id = ${sessionId} returning user_id)
    update users set language = ${language} from used
    where users.id = used.user_id and language is distinct from ${language}`
}

/** Records that the person has proved their identity again. */
export async function confirmSession(sql: Queryable, sessionId: string): Promise<void> {
  await sql`update sessions set confirmed_at = now() where id = ${sessionId}`
}

/** Returns false when the user has no such session. */
export async function endSession(sql: Queryable, userId: string, sessionId: string): Promise<boolean> {
  const { count } = await sql`delete from sessions where id = ${sessionId} and user_id = ${userId}`
  return count > 0
}

/** Ends all sessions of a user. Resolves with their number. */
export async function endSessions(sql: Queryable, userId: string): Promise<number> {
  const { count } = await sql`delete from sessions where user_id = ${userId}`
  return count
}

export async function listSessions(sql: Queryable, userId: string): Promise<ListedSession[]> {
  return sql<ListedSession[]>`
    select id, created_at as "createdAt", seen_at as "seenAt", address, user_agent as "userAgent"
    from sessions where user_id = ${userId} and expires_at > now()
      and seen_at > now() - ${`${IDLE_DAYS} days`}::interval
    order by seen_at desc`
}

export interface Membership {
  businessId: string
  name: string
  role: Role | 'operator'
  timezone: string
  currency: string
}

/** Lists the businesses that a user can see. An operator sees all of them, as operator. */
export async function listBusinessesOf(sql: Queryable, { id, isOperator }: User): Promise<Membership[]> {
  return sql<Membership[]>`
    select b.id as "businessId", b.name, b.timezone, b.currency,
      case when ${isOperator} then 'operator' else m.role end as role
    from businesses b left join memberships m on m.business_id = b.id and m.user_id = ${id}
    where b.removed_at is null and (${isOperator} or m.role is not null)
    order by lower(b.name), b.id limit 1000`
}

/** Resolves with the role of a user in a business, or null. */
export async function findRole(sql: Queryable, user: User, businessId: string): Promise<Role | 'operator' | null> {
  if (user.isOperator) return 'operator'
  const [found] = await sql<{ role: Role }[]>`
    select role from memberships where business_id = ${businessId} and user_id = ${user.id}`
  return found?.role ?? null
}
