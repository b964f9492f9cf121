/** An invitation does not outlive the right of the person who made it, however that right is lost. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  addInvitation,
  createInvitation,
  readLink,
  redeemLink,
  revokeLostInvitations,
} from '../../src/accounts/links.ts'
import { changeRole, deletePerson, listInvitations, removeMember, setRole } from '../../src/accounts/members.ts'
import { createUser, setOperator } from '../../src/accounts/users.ts'
import { inTransaction } from '../../src/stores/transaction.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await openStack()
})
afterAll(() => stack.close())

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

async function invite(businessId: string, invitedBy: Person, email: string): Promise<string> {
  const token = await createInvitation(stack.sql, { businessId, email, role: 'owner', invitedBy })
  if (token === null) throw new Error('not invited')
  return token
}

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

it('a person who has lost the right makes no invitation', async () => {
  const { businessId, ann } = await newBusiness()
  const wanted = { businessId, email: 'new@x.io', role: 'owner', invitedBy: ann } as const
  await changeRole(stack.sql, businessId, ann.id, 'marketer')
  expect(await inTransaction(stack.sql, (tx) => addInvitation(tx, wanted))).toBe('not_permitted')
  await inTransaction(stack.sql, (tx) => deletePerson(tx, ann.id))
  expect(await inTransaction(stack.sql, (tx) => addInvitation(tx, wanted))).toBe('not_permitted')
})

const actor = { kind: 'command', id: 'test', name: 'test' } as const
const LOSSES = {
  removed: (businessId: string, id: string) =>
    inTransaction(stack.sql, async (tx) => {
      expect(await removeMember(tx, businessId, id)).toBe('done')
      await revokeLostInvitations(tx, id, actor)
    }),
  deleted: (_: string, id: string) =>
    inTransaction(stack.sql, async (tx) => {
      expect(await deletePerson(tx, id)).toBe('done')
      await revokeLostInvitations(tx, id, actor)
    }),
  'no operator': (_: string, id: string) =>
    inTransaction(stack.sql, async (tx) => {
      await setOperator(tx, id, false)
      await revokeLostInvitations(tx, id, actor)
    }),
}

it.each(Object.entries(LOSSES))('at the same time as the person is %s, no invitation is left', async (kind, lose) => {
  const { businessId, bob } = await newBusiness()
  for (let round = 0; round < 15; round += 1) {
    const cyd = await newPerson(kind === 'no operator')
    if (kind !== 'no operator') await setRole(stack.sql, businessId, cyd.id, 'owner')
    const earlier = await invite(businessId, cyd, `earlier${round}@x.io`)
    const wanted = { businessId, role: 'owner', invitedBy: cyd } as const
    const [, taken] = await Promise.all([
      lose(businessId, cyd.id),
      inTransaction(stack.sql, (tx) => redeemLink(tx, earlier)),
      ...[1, 2, 3].map((n) =>
        inTransaction(stack.sql, (tx) => addInvitation(tx, { ...wanted, email: `new${round}.${n}@x.io` })),
      ),
    ])
    expect(await openOf(businessId), `round ${round}, taken before: ${taken}`).toEqual([])
  }
  expect(await invite(businessId, bob, 'still@x.io')).not.toBe('')
})
