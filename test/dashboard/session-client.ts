/** A client of the dashboard's API that acts like a browser: keeps the cookie, and sends the headers of the same origin. */
import { expect } from 'vitest'
import { type NewInvitation, createInvitation } from '../../src/accounts/invitations.ts'
import { createSession } from '../../src/accounts/sessions.ts'
import { hashPassword } from '../../src/accounts/passwords.ts'
import type { Role } from '../../src/accounts/rights.ts'
import { setRole } from '../../src/accounts/members.ts'
import { createUser, findCredentials } from '../../src/accounts/users.ts'
import type { Sql } from '../../src/stores/postgres.ts'

export interface DashboardAnswer {
  status: number
  headers: Headers
  data: Record<string, unknown>
  /** The code of the error; undefined for a success. */
  code: string | undefined
  /** The code of a more precise message. */
  reason: string | undefined
  issues: { path: string; message: string; code?: string }[]
}

export interface SessionClient {
  send(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<DashboardAnswer>
  /** The Cookie header; empty when signed out. */
  cookie(): string
}

/** `headers` replace those that a page of the same origin would send. */
export function openSession(url: string, cookie = ''): SessionClient {
  let kept = cookie
  return {
    cookie: () => kept,
    async send(method, path, json, headers = { 'Sec-Fetch-Site': 'same-origin' }) {
      const response = await fetch(`${url}/dashboard/api${path}`, {
        method,
        headers: {
          ...(kept && { Cookie: kept }),
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      })
      const set = response.headers.get('set-cookie')?.split(';')[0]
      if (set !== undefined) kept = set.endsWith('=') ? '' : set
      const body = (await response.json()) as {
        data?: Record<string, unknown>
        error?: { code: string; reason?: { code: string }; issues?: DashboardAnswer['issues'] }
      }
      return {
        status: response.status,
        headers: response.headers,
        data: body.data ?? {},
        code: body.error?.code,
        reason: body.error?.reason?.code,
        issues: body.error?.issues ?? [],
      }
    },
  }
}

export const PASSWORD = 'correct horse battery'
let hash: Promise<string> | undefined

/** Adds a user whose password is PASSWORD. */
export async function addUser(
  sql: Sql,
  email: string,
  { businessId, role, isOperator = false }: { businessId?: string; role?: Role; isOperator?: boolean } = {},
): Promise<string> {
  const passwordHash = await (hash ??= hashPassword(PASSWORD))
  const id = (await createUser(sql, { email, passwordHash, isOperator })) ?? (await findCredentials(sql, email))?.id
  if (id === undefined) throw new Error(`no user ${email}`)
  if (businessId !== undefined && role !== undefined) expect(await setRole(sql, businessId, id, role)).toBe('done')
  return id
}

/** Returns the token of the link. */
export async function inviteTo(
  businessId: string,
  { sql, by }: { sql: Sql; by: { id: string; name: string } },
  invitation: NewInvitation,
): Promise<string> {
  const invited = await createInvitation(sql, { businessId, actor: { kind: 'user', ...by } }, invitation)
  if (invited.kind !== 'invited') throw new Error(invited.kind)
  return invited.token
}

/** Returns a client with a session. The limits of signing in do not apply. */
export async function signIn({ sql, url }: { sql: Sql; url: string }, email: string): Promise<SessionClient> {
  const user = await findCredentials(sql, email)
  if (user === null) throw new Error(`no user ${email}`)
  const token = await createSession(sql, user.id, { address: '127.0.0.1', userAgent: 'test' })
  return openSession(url, `sluice=${token}`)
}
