/** The database keeps an owner in every business that has members, even when owners leave at the same time. */
import { expect, it } from 'vitest'
import { changeRole, removeMember } from '../../src/accounts/change-members.ts'
import { readLink } from '../../src/accounts/links.ts'
import { addUser, deleteUser } from '../../src/accounts/manage-users.ts'
import { MAX_MEMBERS, listMembers, setRole } from '../../src/accounts/members.ts'
import type { Role } from '../../src/accounts/rights.ts'
import { takeLink } from '../../src/accounts/take-link.ts'
import { createUser, findCredentials } from '../../src/accounts/users.ts'
import { removeBusiness } from '../../src/businesses/businesses.ts'
import { inviteTo } from '../dashboard/session-client.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

let count = 0
async function newUser(): Promise<string> {
  count += 1
  const id = await createUser(stack.sql, { email: `u${count}@x.io` })
  if (id === null) throw new Error('the address is taken')
  return id
}

const actor = { kind: 'command', id: 'test', name: 'test' } as const
const change = async (businessId: string, userId: string, role: Role, canAdd = false) =>
  (await changeRole(stack.sql, { businessId, actor }, { userId, role, canAdd })).kind
const remove = async (businessId: string, userId: string) =>
  (await removeMember(stack.sql, { businessId, actor }, userId)).kind

it('the first person of a business is an owner', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const id = await newUser()
  expect(await change(businessId, id, 'marketer', true)).toBe('last_owner')
  expect(await listMembers(stack.sql, businessId)).toEqual([])
  expect(await change(businessId, id, 'owner')).toBe('not_found')
  expect(await change(businessId, id, 'owner', true)).toBe('done')
})

it('the last owner neither leaves nor becomes anything else', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const [ann, bob] = [await newUser(), await newUser()]
  await setRole(stack.sql, businessId, ann, 'owner')
  await setRole(stack.sql, businessId, bob, 'analyst')
  expect(await remove(businessId, ann)).toBe('last_owner')
  expect(await change(businessId, ann, 'marketer')).toBe('last_owner')
  await expect(stack.sql`delete from users where id = ${ann}`).rejects.toThrow('no owner')
  expect(await change(businessId, bob, 'owner')).toBe('done')
  expect(await remove(businessId, ann)).toBe('done')
  expect(await remove(businessId, ann)).toBe('not_found')
})

it('a role that a member has already is not recorded again', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const id = await newUser()
  for (const canAdd of [true, true, false]) expect(await change(businessId, id, 'owner', canAdd)).toBe('done')
  expect(await stack.sql`select from audit_log where business_id = ${businessId}`).toHaveLength(1)
})

it('a business that was removed takes nobody, and a user who was deleted joins none', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const [ann, gone] = [await newUser(), await newUser()]
  expect((await deleteUser(stack.sql, actor, { id: gone, email: 'gone@x.io' })).kind).toBe('deleted')
  expect(await change(businessId, gone, 'owner', true)).toBe('not_found')
  await change(businessId, ann, 'owner', true)
  const token = await inviteTo(
    businessId,
    { sql: stack.sql, by: { id: ann, name: 'ann@x.io' } },
    { email: 'new@x.io', role: 'analyst' },
  )
  const link = await readLink(stack.sql, token)
  if (link === null) throw new Error('no link')
  await removeBusiness(stack.sql, actor, businessId)
  const taken = { link, token, user: null, isAnew: false, wanted: {} }
  expect(await takeLink(stack.sql, taken)).toEqual({ kind: 'link_expired' })
  expect(await change(businessId, await newUser(), 'analyst', true)).toBe('not_found')
  expect([await change(businessId, ann, 'analyst'), await remove(businessId, ann)]).toEqual(['not_found', 'not_found'])
  const membership = { businessId, role: 'analyst' } as const
  expect(await addUser(stack.sql, actor, { email: 'new@x.io', isOperator: false, membership })).toEqual({
    kind: 'not_found',
  })
  expect(await findCredentials(stack.sql, 'new@x.io')).toBeNull()
  expect(await listMembers(stack.sql, businessId)).toMatchObject([{ userId: ann, role: 'owner' }])
})

it('a user and a member are added at the same time, and none waits for the other for ever', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const by = { id: await newUser(), name: 'by@x.io' }
  await setRole(stack.sql, businessId, by.id, 'owner')
  const membership = { businessId, role: 'analyst' } as const
  for (let round = 0; round < 20; round += 1) {
    const email = `both${round}@x.io`
    const token = await inviteTo(businessId, { sql: stack.sql, by }, { email, role: 'analyst' })
    const link = await readLink(stack.sql, token)
    if (link === null) throw new Error('no link')
    const [added, { kind }] = await Promise.all([
      addUser(stack.sql, actor, { email, isOperator: false, membership }),
      takeLink(stack.sql, { link, token, user: null, isAnew: false, wanted: {} }),
    ])
    // The first of them creates the user.
    expect([added.kind, kind]).toEqual(kind === 'taken' ? ['user_exists', 'taken'] : ['added', 'link_expired'])
  }
})

it('when two owners leave at the same time, one stays', async () => {
  const { businessId } = await createBusiness(stack.sql)
  for (let round = 0; round < 20; round += 1) {
    const [ann, bob] = [await newUser(), await newUser()]
    await setRole(stack.sql, businessId, ann, 'owner')
    await setRole(stack.sql, businessId, bob, 'owner')
    const others = (await listMembers(stack.sql, businessId)).filter(({ userId }) => userId !== ann && userId !== bob)
    for (const { userId } of others) await remove(businessId, userId)
    const outcomes = await Promise.all([ann, bob].map((id) => remove(businessId, id)))
    expect(outcomes.toSorted()).toEqual(['done', 'last_owner'])
  }
})

it('a business takes no more people than it may have, and a refusal changes nothing', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const by = { id: await newUser(), name: 'owner@x.io' }
  await setRole(stack.sql, businessId, by.id, 'owner')
  const token = await inviteTo(businessId, { sql: stack.sql, by }, { email: 'late@x.io', role: 'analyst' })
  await stack.sql`
    with added as (
      insert into users (id, email) select gen_random_uuid(), 'member' || n || '@x.io' from generate_series(2, ${MAX_MEMBERS}::int) n
      returning id)
    insert into memberships (business_id, user_id, role) select ${businessId}::uuid, id, 'analyst' from added`
  expect(await change(businessId, await newUser(), 'analyst', true)).toBe('too_many')
  expect(await change(businessId, by.id, 'owner', true)).toBe('done')
  const membership = { businessId, role: 'analyst' } as const
  expect(await addUser(stack.sql, actor, { email: 'late@x.io', isOperator: false, membership })).toEqual({
    kind: 'too_many',
  })
  const link = await readLink(stack.sql, token)
  if (link === null) throw new Error('no link')
  const taken = { link, token, user: null, isAnew: false, wanted: { passwordHash: 'hash' } }
  expect(await takeLink(stack.sql, taken)).toEqual({ kind: 'too_many' })
  expect(await findCredentials(stack.sql, 'late@x.io')).toBeNull()
  expect(await readLink(stack.sql, token)).toEqual(link)
  const refused = await stack.sql`select from audit_log where target not in (select id::text from users)
    and action in ('person.create', 'person.join')`
  expect(refused).toHaveLength(0)
})

it('a user who would be the first person of a business without being its owner is not created', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const wanted = { email: 'first@x.io', isOperator: false, membership: { businessId, role: 'analyst' } } as const
  expect(await addUser(stack.sql, actor, wanted)).toEqual({ kind: 'last_owner' })
  expect(await findCredentials(stack.sql, 'first@x.io')).toBeNull()
  expect(await addUser(stack.sql, actor, { ...wanted, membership: { businessId, role: 'owner' } })).toMatchObject({
    kind: 'added',
  })
})
