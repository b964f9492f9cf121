import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ResolvedRule } from '../../src/rules/segments/rule.ts'
import { previewRule } from '../../src/segments/preview-rule.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type Lab, addContact, erase, merge, newBusiness, openLab, save, shipAll } from '../timeline/lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

const NOW = Date.parse('2026-11-20T12:00:00Z')
const DID: ResolvedRule = { event: 'lesson_done', metric: 'count', operator: 'greater_than_or_equal', value: 1 }
const SHORT = { ms: 200, whileMovingMs: 1000 }
const preview = (businessId: string, rule: ResolvedRule, { sample = 10, patience = SHORT } = {}) =>
  previewRule(lab, { businessId, rule, fields: new Map(), sample, now: NOW }, patience)

/** Adds contacts that have the event, newest last. */
async function addPeople(business: string, count: number): Promise<string[]> {
  const people: string[] = []
  for (let n = 0; n < count; n += 1) people.push(await addContact(lab, business, { createdAt: 1000 + n }))
  await save(
    lab,
    business,
    people.map((contact_id) => ({ contact_id })),
  )
  return people
}

test('counts, and names the newest contacts', async () => {
  const business = newBusiness()
  const people = await addPeople(business, 5)
  await save(lab, business, [], [await addContact(lab, business)])
  await shipAll(lab)
  const asOf = '2026-11-20T12:00:00.000Z'
  expect(await preview(business, DID, { sample: 2 })).toEqual({ count: 5, sample: people.slice(3).toReversed(), asOf })
  expect(await preview(business, DID, { sample: 0 })).toEqual({ count: 5, sample: [], asOf })
  expect(await preview(business, { not: DID })).toMatchObject({ count: 1 })
  expect(await preview(newBusiness(), { not: DID })).toEqual({ count: 0, sample: [], asOf })
})

test('waits for what was answered before, and for nothing of others', async () => {
  const business = newBusiness()
  await addPeople(business, 1)
  const asked = preview(business, DID, { patience: { ms: 20_000, whileMovingMs: 20_000 } })
  await new Promise((resolve) => setTimeout(resolve, 300))
  await shipAll(lab)
  expect(await asked).toMatchObject({ count: 1 })
  await addPeople(newBusiness(), 1)
  expect(await preview(business, DID)).toMatchObject({ count: 1 })
  await addPeople(business, 1)
  expect(await preview(business, DID)).toBe('unavailable')
  await shipAll(lab)
})

test('an erased person is not counted, from the answer on', async () => {
  const business = newBusiness()
  const [first = '', second = '', third = ''] = await addPeople(business, 3)
  await shipAll(lab)
  await merge(lab, business, [first], second)
  await shipAll(lab)
  expect(await preview(business, DID)).toMatchObject({ count: 2, sample: [third, second] })
  await erase(lab, business, [second, first])
  expect(await preview(business, DID)).toMatchObject({ count: 1, sample: [third] })
})

test('a ClickHouse that is away is unavailable, and a caller that goes away is not waited for', async () => {
  const business = newBusiness()
  const away = connectClickHouse('http://127.0.0.1:9/sluice', { requestTimeoutMs: 500 })
  const query = { businessId: business, rule: DID, fields: new Map(), sample: 1, now: NOW }
  expect(await previewRule({ sql: lab.sql, clickhouse: away }, query, SHORT)).toBe('unavailable')
  await away.close()
  await addPeople(business, 1)
  const gone = new AbortController()
  const asked = previewRule(lab, { ...query, signal: gone.signal }, { ms: 60_000, whileMovingMs: 60_000 })
  gone.abort()
  await expect(asked).rejects.toThrow('aborted')
  await shipAll(lab)
})
