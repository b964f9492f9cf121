/** The database keeps an owner in every business that has members, even when owners leave at the same time. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { changeRole, listMembers, removeMember, setRole } from '../../src/accounts/members.ts'
import { createUser } from '../../src/accounts/users.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await openStack()
})
afterAll(() => stack.close())

let count = 0
async function newUser(): Promise<string> {
  count += 1
  const id = await createUser(stack.sql, { email: `u${count}@x.io` })
  if (id === null) throw new Error('the address is taken')
  return id
}

it('the first person of a business is an owner', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const id = await newUser()
  expect(await setRole(stack.sql, businessId, id, 'marketer')).toBe('last_owner')
  expect(await listMembers(stack.sql, businessId)).toEqual([])
  expect(await setRole(stack.sql, businessId, id, 'owner')).toBe('done')
})

it('the last owner neither leaves nor becomes anything else', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const [ann, bob] = [await newUser(), await newUser()]
  await setRole(stack.sql, businessId, ann, 'owner')
  await setRole(stack.sql, businessId, bob, 'analyst')
  expect(await removeMember(stack.sql, businessId, ann)).toBe('last_owner')
  expect(await changeRole(stack.sql, businessId, ann, 'marketer')).toBe('last_owner')
  await expect(stack.sql`delete from users where id = ${ann}`).rejects.toThrow('no owner')
  expect(await changeRole(stack.sql, businessId, bob, 'owner')).toBe('done')
  expect(await removeMember(stack.sql, businessId, ann)).toBe('done')
  expect(await removeMember(stack.sql, businessId, ann)).toBe('not_found')
})

it('when two owners leave at the same time, one stays', async () => {
  const { businessId } = await createBusiness(stack.sql)
  for (let round = 0; round < 20; round += 1) {
    const [ann, bob] = [await newUser(), await newUser()]
    await setRole(stack.sql, businessId, ann, 'owner')
    await setRole(stack.sql, businessId, bob, 'owner')
    const others = (await listMembers(stack.sql, businessId)).filter(({ userId }) => userId !== ann && userId !== bob)
    for (const { userId } of others) await removeMember(stack.sql, businessId, userId)
    const outcomes = await Promise.all([ann, bob].map((id) => removeMember(stack.sql, businessId, id)))
    expect(outcomes.toSorted()).toEqual(['done', 'last_owner'])
  }
})
