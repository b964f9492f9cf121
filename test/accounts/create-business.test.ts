/** A business that an operator creates in the dashboard has an owner from the start, or is not created. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createOwnedBusiness } from '../../src/accounts/create-business.ts'
import { listInvitations } from '../../src/accounts/invitations.ts'
import { listMembers } from '../../src/accounts/members.ts'
import { createUser } from '../../src/accounts/users.ts'
import type { PersonActor } from '../../src/audit/audit.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

async function newUser(email: string, isOperator: boolean): Promise<PersonActor> {
  const id = await createUser(stack.sql, { email, isOperator })
  return { kind: 'user', id: id ?? '', name: email }
}

const actionsOf = async (actor: PersonActor) =>
  (await stack.sql<{ action: string }[]>`select action from audit_log where actor_id = ${actor.id} order by id`).map(
    ({ action }) => action,
  )

it('has the operator, or the person whom the operator invites', async () => {
  const boss = await newUser('boss@x.io', true)
  const own = await createOwnedBusiness(stack.sql, boss, { name: 'Own' }, null)
  const other = await createOwnedBusiness(stack.sql, boss, { name: 'Other' }, { email: 'ann@x.io' })
  if (own.kind !== 'created' || other.kind !== 'created') throw new Error('one was not created')
  expect(own.invitation).toBeNull()
  expect(await listMembers(stack.sql, own.businessId)).toMatchObject([{ userId: boss.id, role: 'owner' }])
  expect(await listMembers(stack.sql, other.businessId)).toEqual([])
  expect(await listInvitations(stack.sql, other.businessId)).toMatchObject([
    { id: other.invitation?.id, email: 'ann@x.io', role: 'owner', invitedBy: 'boss@x.io' },
  ])
  expect(await actionsOf(boss)).toEqual(['business.create', 'business.create', 'person.invite'])
})

it('is not created for an operator whose account was deleted', async () => {
  const gone: PersonActor = { kind: 'user', id: randomUUID(), name: 'gone@x.io' }
  expect(await createOwnedBusiness(stack.sql, gone, { name: 'Ownerless' }, null)).toEqual({ kind: 'not_permitted' })
  expect(await stack.sql`select from businesses where name = 'Ownerless'`).toHaveLength(0)
})

it('is not created by a person who may no longer invite', async () => {
  const former = await newUser('former@x.io', false)
  const refused = await createOwnedBusiness(stack.sql, former, { name: 'Refused' }, { email: 'ann@x.io' })
  expect(refused).toEqual({ kind: 'not_permitted' })
  expect(await stack.sql`select from businesses where name = 'Refused'`).toHaveLength(0)
  expect(await actionsOf(former)).toEqual([])
})
