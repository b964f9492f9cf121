/** `admin user …`: roles, operators, sessions and deletion, against a real Postgres. */
import { expect, it } from 'vitest'
import { createLink, readLink } from '../../src/accounts/links.ts'
import { listMembers, setRole } from '../../src/accounts/members.ts'
import { createSession, findRole, findSession } from '../../src/accounts/sessions.ts'
import { createUser, findCredentials } from '../../src/accounts/users.ts'
import { removeBusiness } from '../../src/businesses/businesses.ts'
import { inviteTo } from '../dashboard/session-client.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

interface Answer {
  exitCode: number
  json: Record<string, unknown>
}
async function run(...words: string[]): Promise<Answer> {
  const { exitCode, out } = await runAdminQuietly(['user', ...words, '--json'], stack.config)
  return { exitCode, json: JSON.parse(out) as Record<string, unknown> }
}
const codeOf = ({ json }: Answer) => (json['error'] as { code: string } | undefined)?.code

let count = 0
async function newUser(isOperator = false): Promise<{ id: string; email: string }> {
  count += 1
  const email = `u${count}@x.io`
  const id = await createUser(stack.sql, { email, isOperator })
  if (id === null) throw new Error('the address is taken')
  return { id, email }
}
const openSession = (userId: string) => createSession(stack.sql, userId, { address: '127.0.0.1', userAgent: 'test' })

async function actionsOf(businessId: string | null, target: string): Promise<string[]> {
  const rows = await stack.sql<{ entry: string }[]>`
    select actor_kind || ' ' || actor_name || ': ' || action || ' ' || details::text as entry from audit_log
    where business_id is not distinct from ${businessId}::uuid and target = ${target} order by id`
  return rows.map(({ entry }) => entry)
}

it('adds a user to a business, changes their role and removes them, but never the last owner', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const [ann, bob] = [await newUser(), await newUser()]
  const role = (email: string, name: string) => run('set-role', email, '--business', businessId, '--role', name)
  expect(codeOf(await role(ann.email, 'marketer'))).toBe('last_owner')
  expect((await role(ann.email, 'owner')).json).toEqual({
    email: ann.email,
    businessId,
    role: 'owner',
    revokedInvitations: [],
  })
  expect((await role(` ${bob.email.toUpperCase()}`, 'analyst')).json).toMatchObject({ email: bob.email })
  expect(codeOf(await role(ann.email, 'analyst'))).toBe('last_owner')
  expect(codeOf(await run('remove-role', ann.email, '--business', businessId))).toBe('last_owner')
  expect(await listMembers(stack.sql, businessId)).toMatchObject([{ role: 'owner' }, { role: 'analyst' }])
  await role(bob.email, 'owner')
  expect((await run('remove-role', ann.email, '--business', businessId)).json).toMatchObject({ role: null })
  expect(codeOf(await run('remove-role', ann.email, '--business', businessId))).toBe('not_a_member')
  expect(await listMembers(stack.sql, businessId)).toMatchObject([{ userId: bob.id }])
  // Rejected changes left no entry.
  expect(await actionsOf(businessId, ann.id)).toEqual([
    `command admin user set-role: person.role {"role": "owner", "email": "${ann.email}"}`,
    `command admin user remove-role: person.remove {"email": "${ann.email}"}`,
  ])
})

it('grants and revokes the rights of an operator, at once for the sessions that are open', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const { id, email } = await newUser()
  const token = await openSession(id)
  const roleNow = async () => {
    const session = await findSession(stack.sql, token)
    return session && findRole(stack.sql, session.user, businessId)
  }
  expect((await run('grant-operator', email)).json).toMatchObject({ email, isOperator: true })
  expect(await roleNow()).toBe('operator')
  const { json } = await run('revoke-operator', email)
  expect(json).toEqual({ email, isOperator: false, operators: 0, revokedInvitations: [] })
  expect(await roleNow()).toBeNull()
  const { out } = await runAdminQuietly(['user', 'revoke-operator', email], stack.config)
  expect(out).toContain('No operator is left')
  expect(await actionsOf(null, id)).toEqual([
    `command admin user grant-operator: person.grant-operator {"email": "${email}"}`,
    `command admin user revoke-operator: person.revoke-operator {"email": "${email}"}`,
  ])
})

it('ends every session and link of one user, and no other', async () => {
  const [ann, bob] = [await newUser(), await newUser()]
  const [mine, alsoMine, theirs] = [await openSession(ann.id), await openSession(ann.id), await openSession(bob.id)]
  const link = await createLink(stack.sql, 'sign-in', ann.email)
  expect((await run('end-sessions', ann.email)).json).toEqual({ email: ann.email, ended: 2 })
  const left = await Promise.all([mine, alsoMine, theirs].map((token) => findSession(stack.sql, token)))
  expect(left.map((session) => session?.user.id)).toEqual([undefined, undefined, bob.id])
  expect(await readLink(stack.sql, link)).toBeNull()
  expect(await actionsOf(null, ann.id)).toEqual([
    `command admin user end-sessions: person.end-sessions {"email": "${ann.email}"}`,
  ])
})

it('deletes a user with sessions, roles, links and invitations, once it is confirmed', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const [owner, gone] = [await newUser(), await newUser(true)]
  await setRole(stack.sql, businessId, owner.id, 'owner')
  await setRole(stack.sql, businessId, gone.id, 'marketer')
  const token = await openSession(gone.id)
  const by = { id: owner.id, name: owner.email }
  const links = [
    await createLink(stack.sql, 'reset', gone.email),
    await inviteTo(businessId, { sql: stack.sql, by }, { email: gone.email, role: 'owner' }),
  ]
  expect(await run('delete', gone.email)).toMatchObject({ exitCode: 2, json: { error: { code: 'usage' } } })
  expect(await findSession(stack.sql, token)).not.toBeNull()
  expect((await run('delete', gone.email, '--yes')).json).toEqual({
    email: gone.email,
    deleted: true,
    operators: 0,
    revokedInvitations: [],
  })
  expect(await findSession(stack.sql, token)).toBeNull()
  expect(await findCredentials(stack.sql, gone.email)).toBeNull()
  for (const link of links) expect(await readLink(stack.sql, link)).toBeNull()
  expect(await listMembers(stack.sql, businessId)).toMatchObject([{ userId: owner.id }])
  expect(codeOf(await run('delete', gone.email, '--yes'))).toBe('user_not_found')
  expect(await actionsOf(null, gone.id)).toEqual([
    `command admin user delete: person.delete {"email": "${gone.email}"}`,
  ])
})

it('does not delete the only owner of a business, and names it; a business that was removed needs none', async () => {
  const { businessId } = await createBusiness(stack.sql, { name: 'Bookshop' })
  const owner = await newUser()
  await setRole(stack.sql, businessId, owner.id, 'owner')
  const refused = await run('delete', owner.email, '--yes')
  expect(refused).toMatchObject({ exitCode: 1, json: { error: { code: 'last_owner' } } })
  expect(JSON.stringify(refused.json)).toContain(`Bookshop (${businessId})`)
  expect(await findCredentials(stack.sql, owner.email)).not.toBeNull()
  expect(await actionsOf(null, owner.id)).toEqual([])
  await removeBusiness(stack.sql, { kind: 'command', id: 'test', name: 'test' }, businessId)
  expect((await run('delete', owner.email, '--yes')).exitCode).toBe(0)
})

it('when both owners of a business are deleted at the same time, one stays', async () => {
  const { businessId } = await createBusiness(stack.sql, { name: 'Bookshop' })
  const owners = [await newUser(), await newUser()]
  for (const { id } of owners) await setRole(stack.sql, businessId, id, 'owner')
  // Not both through runAdmin: it captures output by a spy on the process, which both calls would share.
  const { USER_COMMANDS } = await import('../../src/admin/user.ts')
  const { parseArguments } = await import('../../src/admin/command.ts')
  const command = USER_COMMANDS.find(({ name }) => name === 'user delete')
  if (command === undefined) throw new Error('no command')
  const outcomes = await Promise.allSettled(
    owners.map(({ email }) => command.run(stack.config, parseArguments(command, [email, '--yes']))),
  )
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const refused = outcomes.find(({ status }) => status === 'rejected')
  expect(String((refused as PromiseRejectedResult).reason)).toContain(`Bookshop (${businessId})`)
  expect(await listMembers(stack.sql, businessId)).toHaveLength(1)
})

it.each([
  [
    ['set-role', 'nobody@x.io', '--business', '01a20885-0000-7000-8000-000000000000', '--role', 'owner'],
    'user_not_found',
  ],
  [
    ['set-role', 'u1@x.io', '--business', '01a20885-0000-7000-8000-000000000000', '--role', 'owner'],
    'business_not_found',
  ],
  [['set-role', 'u1@x.io', '--business', '01a20885-0000-7000-8000-000000000000', '--role', 'boss'], 'usage'],
  [['set-role', 'u1@x.io', '--role', 'owner'], 'usage'],
  [['remove-role', 'u1@x.io', '--business', 'shop'], 'usage'],
  [['grant-operator', 'nonsense'], 'usage'],
  [['revoke-operator', 'nobody@x.io'], 'user_not_found'],
  [['end-sessions', 'nobody@x.io'], 'user_not_found'],
])('%j is refused as %s', async (words, code) => {
  expect(codeOf(await run(...words))).toBe(code)
})
