/** An invitation does not outlive the right of the person who made it, however that right is lost. */
import { expect, it } from 'vitest'
import { changeRole, removeMember } from '../../src/accounts/change-members.ts'
import { createInvitation, listInvitations } from '../../src/accounts/invitations.ts'
import { readLink, redeemLink } from '../../src/accounts/links.ts'
import { deleteUser, setOperator } from '../../src/accounts/manage-users.ts'
import { setRole } from '../../src/accounts/members.ts'
import { createUser } from '../../src/accounts/users.ts'
import { inTransaction } from '../../src/stores/transaction.ts'
import { inviteTo } from '../dashboard/session-client.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

interface Person {
  id: string
  name: string
}

let count = 0
async function newPerson(isOperator = false): Promise<Person> {
  count += 1
  const name = `p${count}@x.io`
  const id = await createUser(stack.sql, { email: name, isOperator })
  if (id === null) throw new Error('the address is taken')
  return { id, name }
}

/** A business with two owners. */
async function newBusiness(): Promise<{ businessId: string; ann: Person; bob: Person }> {
  const { businessId } = await createBusiness(stack.sql)
  const [ann, bob] = [await newPerson(), await newPerson()]
  for (const { id } of [ann, bob]) expect(await setRole(stack.sql, businessId, id, 'owner')).toBe('done')
  return { businessId, ann, bob }
}

const invite = (businessId: string, by: Person, email: string): Promise<string> =>
  inviteTo(businessId, { sql: stack.sql, by }, { email, role: 'owner' })
const tryToInvite = async (businessId: string, by: Person, email: string) =>
  (await createInvitation(stack.sql, { businessId, actor: { kind: 'user', ...by } }, { email, role: 'owner' })).kind

const openOf = async (businessId: string) => (await listInvitations(stack.sql, businessId)).map(({ email }) => email)
const run = async (...words: string[]) =>
  JSON.parse((await runAdminQuietly(['user', ...words, '--json'], stack.config)).out) as Record<string, unknown>
const logOf = async (businessId: string) =>
  stack.sql<{ actorName: string; details: object }[]>`
    select actor_name as "actorName", details from audit_log
    where business_id = ${businessId} and action = 'invitation.revoke' order by id`

it.each([
  ['whose role changes', (at: string, { name }: Person) => ['set-role', name, '--business', at, '--role', 'marketer']],
  ['who is removed', (at: string, { name }: Person) => ['remove-role', name, '--business', at]],
  ['who is deleted', (_: string, { name }: Person) => ['delete', name, '--yes']],
])('those of a person %s are revoked, and the command and the log say so', async (_, wordsOf) => {
  const { businessId, ann, bob } = await newBusiness()
  const [lost, kept] = [await invite(businessId, ann, 'new@x.io'), await invite(businessId, bob, 'kept@x.io')]
  const words = wordsOf(businessId, ann)
  expect(await run(...words)).toMatchObject({ revokedInvitations: ['new@x.io'] })
  expect([await readLink(stack.sql, lost), await redeemLink(stack.sql, lost)]).toEqual([null, false])
  expect(await readLink(stack.sql, kept)).toMatchObject({ email: 'kept@x.io' })
  expect(await openOf(businessId)).toEqual(['kept@x.io'])
  expect(await logOf(businessId)).toEqual([
    { actorName: `admin user ${words[0]}`, details: { email: 'new@x.io', invitedBy: ann.name } },
  ])
})

it('those of an operator are revoked where they are no owner', async () => {
  const operator = await newPerson(true)
  const { businessId } = await newBusiness()
  const { businessId: own } = await newBusiness()
  await setRole(stack.sql, own, operator.id, 'owner')
  await invite(businessId, operator, 'there@x.io')
  await invite(own, operator, 'here@x.io')
  expect(await run('revoke-operator', operator.name)).toMatchObject({ revokedInvitations: ['there@x.io'] })
  expect([await openOf(businessId), await openOf(own)]).toEqual([[], ['here@x.io']])
})

it('a role in another business, or one that may invite as well, revokes nothing', async () => {
  const { businessId, ann } = await newBusiness()
  const { businessId: another } = await newBusiness()
  await setRole(stack.sql, another, ann.id, 'owner')
  await invite(businessId, ann, 'new@x.io')
  expect(await run('remove-role', ann.name, '--business', another)).toMatchObject({ revokedInvitations: [] })
  expect(await run('set-role', ann.name, '--business', businessId, '--role', 'owner')).toMatchObject({
    revokedInvitations: [],
  })
  expect(await openOf(businessId)).toEqual(['new@x.io'])
})

it('even where nothing revokes it, the link is refused while its person may not invite', async () => {
  const { businessId, ann } = await newBusiness()
  const token = await invite(businessId, ann, 'new@x.io')
  await stack.sql`update memberships set role = 'analyst' where user_id = ${ann.id}`
  expect([await readLink(stack.sql, token), await redeemLink(stack.sql, token)]).toEqual([null, false])
})

const actor = { kind: 'command', id: 'test', name: 'test' } as const

it('a person who has lost the right makes no invitation', async () => {
  const { businessId, ann } = await newBusiness()
  await changeRole(stack.sql, { businessId, actor }, { userId: ann.id, role: 'marketer' })
  expect(await tryToInvite(businessId, ann, 'new@x.io')).toBe('not_permitted')
  await deleteUser(stack.sql, actor, { id: ann.id, email: ann.name })
  expect(await tryToInvite(businessId, ann, 'new@x.io')).toBe('not_permitted')
})

const LOSSES: Record<string, (businessId: string, person: Person) => Promise<unknown>> = {
  removed: async (businessId, { id }) =>
    expect(await removeMember(stack.sql, { businessId, actor }, id)).toMatchObject({ kind: 'done' }),
  'no owner any more': async (businessId, { id }) =>
    expect(await changeRole(stack.sql, { businessId, actor }, { userId: id, role: 'analyst' })).toMatchObject({
      kind: 'done',
    }),
  deleted: async (_, { id, name }) =>
    expect(await deleteUser(stack.sql, actor, { id, email: name })).toMatchObject({ kind: 'deleted' }),
  'no operator any more': (_, { id, name }) => setOperator(stack.sql, actor, { id, email: name }, false),
}

it.each(Object.entries(LOSSES))('at the same time as the person is %s, no invitation is left', async (kind, lose) => {
  const { businessId, bob } = await newBusiness()
  const isOperator = kind === 'no operator any more'
  for (let round = 0; round < 15; round += 1) {
    const cyd = await newPerson(isOperator)
    if (!isOperator) await setRole(stack.sql, businessId, cyd.id, 'owner')
    const earlier = await invite(businessId, cyd, `earlier${round}@x.io`)
    const [, taken] = await Promise.all([
      lose(businessId, cyd),
      inTransaction(stack.sql, (tx) => redeemLink(tx, earlier)),
      ...[1, 2, 3].map((n) => tryToInvite(businessId, cyd, `new${round}.${n}@x.io`)),
    ])
    expect(await openOf(businessId), `round ${round}, taken before: ${taken}`).toEqual([])
  }
  expect(await invite(businessId, bob, 'still@x.io')).not.toBe('')
})
