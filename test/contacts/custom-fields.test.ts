/** The limit on the custom fields of a business (decisions, "Traits and custom fields"). */
import { expect, it } from 'vitest'
import { NOW, eventFact, openPipeline, track } from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

it('are 500 at most: one more is skipped, with a warning, and those that are there take values as before', async () => {
  const { businessId } = await createBusiness(stack.sql)
  await stack.sql`
    insert into custom_fields (business_id, key, type, created_at)
    select ${businessId}, 'field_' || n, 'Number', 0 from generate_series(1, 499) n`
  const pipeline = await openPipeline(stack.sql)
  const say = (traits: Record<string, number | null>, occurredAt = NOW) =>
    pipeline.track(track(businessId, eventFact('e', { email: 'ann@x.io' }, { occurredAt, traits })))
  const full = 'trait "field_501" was skipped: the business has 500 custom fields already'
  const sent = { field_1: 1, field_500: 500, field_501: 501, field_2: 2 }
  expect((await say(sent)).warnings).toEqual([full])
  expect((await say({ field_501: 1, field_500: 5, field_1: null }, NOW + 1)).warnings).toEqual([full])
  const [person] = await readPeople(stack.sql, businessId)
  const values = Object.entries(person?.traits ?? {}).map(([key, [, json]]) => [key, json])
  expect(Object.fromEntries(values)).toEqual({ field_1: null, field_2: '2', field_500: '5' })
  const [{ made }] = await stack.sql<[{ made: number }]>`
    select count(*)::int as made from custom_fields where business_id = ${businessId}`
  expect(made).toBe(500)
})
