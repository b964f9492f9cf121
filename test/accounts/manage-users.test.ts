/** What an operator changes in the account of a person: nothing, and no entry in the audit log, when it is gone. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createLink, readLink } from '../../src/accounts/links.ts'
import { endUserSessions, setOperator } from '../../src/accounts/manage-users.ts'
import { changePassword } from '../../src/accounts/own-account.ts'
import { readTotpSecret, removeSecondFactor, startTotp, turnTotpOff } from '../../src/accounts/second-factor.ts'
import { takeLink } from '../../src/accounts/take-link.ts'
import { type UserName, createUser, findCredentials } from '../../src/accounts/users.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

const actor = { kind: 'command', id: 'test', name: 'test' } as const
const actionsOf = async ({ id }: UserName) =>
  (await stack.sql<{ action: string }[]>`select action from audit_log where target = ${id} order by id`).map(
    ({ action }) => action,
  )

async function newUser(email: string): Promise<UserName> {
  const id = await createUser(stack.sql, { email })
  if (id === null) throw new Error('the address is taken')
  return { id, email }
}

const CHANGES: Record<string, (sql: Sql, user: UserName) => Promise<object>> = {
  'becomes an operator': (sql, user) => setOperator(sql, actor, user, true),
  'becomes an ordinary user': (sql, user) => setOperator(sql, actor, user, false),
  'is signed out': (sql, user) => endUserSessions(sql, actor, user),
  'loses the second factor': (sql, user) => removeSecondFactor(sql, actor, user),
}

it.each(Object.entries(CHANGES))('nobody %s who has been deleted', async (_, change) => {
  const gone = { id: randomUUID(), email: 'gone@x.io' }
  expect(await change(stack.sql, gone)).toEqual({ kind: 'not_found' })
  expect(await actionsOf(gone)).toEqual([])
})

it('what is so already is not recorded', async () => {
  const user = await newUser('same@x.io')
  expect(await setOperator(stack.sql, actor, user, false)).toMatchObject({ kind: 'done' })
  expect(await removeSecondFactor(stack.sql, actor, user)).toEqual({ kind: 'done' })
  // A setup that was only begun ends, too.
  await startTotp(stack.sql, user.id, 'sealed')
  await turnTotpOff(stack.sql, user)
  expect(await readTotpSecret(stack.sql, user.id)).toEqual({ secret: null, isConfirmed: false })
  expect(await actionsOf(user)).toEqual([])
})

it('links are used while the account changes, and neither waits for the other for ever', async () => {
  const { email } = await newUser('busy@x.io')
  const user = await findCredentials(stack.sql, email)
  if (user === null) throw new Error('no user')
  for (let round = 0; round < 20; round += 1) {
    const token = await createLink(stack.sql, 'reset', email)
    const link = await readLink(stack.sql, token)
    if (link === null) throw new Error('no link')
    const [{ kind }] = await Promise.all([
      takeLink(stack.sql, { link, token, user, isAnew: false, wanted: { passwordHash: 'hash' } }),
      changePassword(stack.sql, user, 'hash'),
      endUserSessions(stack.sql, actor, user),
    ])
    expect(['taken', 'link_expired']).toContain(kind)
  }
})
