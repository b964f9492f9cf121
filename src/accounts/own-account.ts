/** What people change in their own accounts: name, password and sessions. second-factor.ts has the second factor. */
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { removeLinks } from './links.ts'
import { recordAccountChange } from './record-account-change.ts'
import { endSession, endSessions } from './sessions.ts'
import { type UserName, updateUser } from './users.ts'

export const changeName = (sql: Sql, user: UserName, name: string): Promise<void> =>
  inTransaction(sql, async (tx) => {
    await updateUser(tx, user.id, { name })
    await recordAccountChange(tx, user, 'name')
  })

/** Ends all sessions, and deletes all links but invitations. */
export const changePassword = (sql: Sql, user: UserName, passwordHash: string): Promise<void> =>
  inTransaction(sql, async (tx) => {
    await updateUser(tx, user.id, { passwordHash })
    await endSessions(tx, user.id)
    await removeLinks(tx, user.email)
    await recordAccountChange(tx, user, 'password')
  })

export const endOwnSession = (
  sql: Sql,
  user: UserName,
  session: string,
): Promise<{ kind: 'ended' } | { kind: 'not_found' }> =>
  inTransaction(sql, async (tx) => {
    if (!(await endSession(tx, user.id, session))) return { kind: 'not_found' }
    await recordAccountChange(tx, user, 'end-session', { session })
    return { kind: 'ended' }
  })
