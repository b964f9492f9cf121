/** Which business `admin demo` fills when none is named. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { storeSettings } from '../../src/businesses/businesses.ts'
import { chooseDemoBusiness } from '../../src/demo/demo-business.ts'
import { type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  await stack.sql`update businesses set removed_at = now() where removed_at is null`
})

const actor = { kind: 'command', id: 'test', name: 'test' } as const
const choose = async () => (await chooseDemoBusiness(stack.sql, actor)).businessId
/** Whether the entry in the audit log says that the demo has created it. */
const isCreated = async (businessId: string) =>
  (
    await stack.sql`
    select from audit_log where business_id = ${businessId} and action = 'business.create' and target = ${businessId}`
  ).length === 1

it('is one new business, however many runs begin at once', async () => {
  const chosen = await Promise.all(Array.from({ length: 5 }, choose))
  expect(new Set(chosen).size).toBe(1)
  expect(await stack.sql`select id from businesses where removed_at is null`).toEqual([{ id: chosen[0] }])
})

it('stays the one that was the only one when the first run began', async () => {
  const { businessId } = await createBusiness(stack.sql)
  expect(await choose()).toBe(businessId)
  await createBusiness(stack.sql)
  expect([await choose(), await isCreated(businessId)]).toEqual([businessId, false])
})

it.each([
  ['has other contacts', (id: string) => pipeline.apply(track(id, eventFact('visit', { email: 'ann@x.io' })))],
  ['is inactive', (id: string) => storeSettings(stack.sql, id, { active: false })],
])('is a new one once the former %s, and then stays that', async (_, change) => {
  const { businessId } = await createBusiness(stack.sql)
  expect(await choose()).toBe(businessId)
  await change(businessId)
  const next = await choose()
  expect([await isCreated(businessId), await isCreated(next)]).toEqual([false, true])
  expect(await choose()).toBe(next)
})

it('has a name of its own each time', async () => {
  for (const name of ['Demo school', 'Demo school 2', 'Demo school 3']) {
    const businessId = await choose()
    expect(await stack.sql`select name from businesses where id = ${businessId}`).toEqual([{ name }])
    await pipeline.apply(track(businessId, eventFact('visit', { email: 'ann@x.io' })))
  }
})
