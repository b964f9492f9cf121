// @serial
/** The engagement score of a person: the formula, in the view and as the API reads it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, it } from 'vitest'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { readEngagement } from '../../src/timeline/reading/read-engagement.ts'
import { link, newVisitor } from '../web-events/web-lab.ts'
import { addContact, erase, eraseAll, merge, newBusiness, openLab, query, save, shipAll } from './lab.ts'
import { atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const lab = useOpened(openLab)
let business: string
beforeEach(() => {
  business = newBusiness()
})

const did = (contact_id: string, daysAgo: number, times = 1) =>
  Array.from({ length: times }, () => ({ contact_id, occurred_ms: Date.now() - daysAgo * DAY }))
async function view(visitor_id: string, hits: { kind: string; daysAgo?: number; active_ms?: number }[]): Promise<void> {
  const rows = hits.map(({ kind, daysAgo = 0, active_ms = 0 }, n) => ({
    business_id: business,
    visitor_id,
    hit_id: `h${n}`,
    kind,
    page_id: 'p',
    occurred_ms: Date.now() - daysAgo * DAY,
    received_ms: Date.now(),
    url: 'https://shop.example/',
    active_ms,
  }))
  await lab.clickhouse.insert({ table: 'web_events', values: rows, format: 'JSONEachRow' })
}
const scores = async () =>
  Object.fromEntries(
    (
      await query<{ contact_id: string; score: number }>(
        lab,
        'select contact_id, score from contact_engagement where business_id = {business: UUID}',
        { business },
      )
    ).map(({ contact_id, score }) => [contact_id, score]),
  )
const read = (contactId: string, more: { mergedFrom?: string[]; visitorIds?: string[] } = {}) =>
  readEngagement(lab.clickhouse, business, { contactId, mergedFrom: [], visitorIds: [], ...more })

it('twenty points are 50, forty 75; they are worth half after 14 days, and a quarter after 28', async () => {
  const expected = [
    [0, 4, 50],
    [0, 8, 75],
    [14, 4, 29],
    [14, 8, 50],
    [28, 16, 50],
    [0, 1, 16],
    [0, 200, 100],
    [4000, 9, 0],
  ] as const
  const people = await Promise.all(expected.map(() => addContact(lab, business)))
  await save(
    lab,
    business,
    people.flatMap((person, n) => did(person, expected[n]?.[0] ?? 0, expected[n]?.[1])),
  )
  await shipAll(lab)
  expect(await scores()).toEqual(Object.fromEntries(people.map((person, n) => [person, expected[n]?.[2]])))
})

it('a page view is a point, and so is a minute of active time', async () => {
  const [ann, bob, cyd] = [
    await addContact(lab, business),
    await addContact(lab, business),
    await addContact(lab, business),
  ]
  const [one, two, nobodys, forgotten] = [newVisitor(), newVisitor(), newVisitor(), newVisitor()]
  const views = Array.from({ length: 20 }, () => ({ kind: 'page_view' }))
  await view(one, views)
  await view(two, [
    { kind: 'time', active_ms: 20 * 60_000 },
    { kind: 'scroll' },
    { kind: 'time', active_ms: 0, daysAgo: 1 },
  ])
  await view(nobodys, views)
  await view(forgotten, views)
  await link(lab.clickhouse, [
    { business_id: business, visitor_id: one, from_ms: 0, contact_id: ann },
    { business_id: business, visitor_id: one, from_ms: Date.now() + DAY, contact_id: cyd },
    { business_id: business, visitor_id: two, from_ms: 0, contact_id: bob },
    { business_id: business, visitor_id: forgotten, from_ms: 0, contact_id: ann, erased: 1 },
  ])
  expect(await scores()).toEqual({ [ann]: 50, [bob]: 50 })
  expect(await read(ann, { visitorIds: [one, forgotten, nobodys, `it's "odd" \\ {id:UUID} ?`] })).toMatchObject({
    score: 50,
  })
  expect(await read(bob, { visitorIds: [two] })).toMatchObject({ score: 50 })
  expect(await read(cyd, { visitorIds: [one] })).toEqual({ score: 0, lastActiveAt: null })
})

it('is read as in the view, with all contacts merged into the person', async () => {
  const [ann, bob, other] = [
    await addContact(lab, business),
    await addContact(lab, business),
    await addContact(lab, business),
  ]
  const [early, late] = [Date.now() - 3 * DAY, Date.now() - 2 * DAY]
  const event = (contact_id: string, occurred_ms: number) => ({ contact_id, occurred_ms })
  await save(lab, business, [event(ann, early), event(bob, late), event(other, Date.now())])
  await merge(lab, business, [bob], ann)
  await shipAll(lab)
  const visitor = newVisitor()
  await view(visitor, [{ kind: 'page_view', daysAgo: 10 }])
  await link(lab.clickhouse, [{ business_id: business, visitor_id: visitor, from_ms: 0, contact_id: bob }])
  const score = (await scores())[ann]
  expect(score).toBeGreaterThan(20)
  expect(await read(ann, { mergedFrom: [bob], visitorIds: [visitor] })).toEqual({
    score,
    lastActiveAt: new Date(late).toISOString(),
  })
  await erase(lab, business, [ann, bob])
  await eraseAll(lab)
  expect(Object.keys(await scores())).toEqual([other])
})

it('is null when ClickHouse does not answer in time, or at all', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const contact = { contactId: newBusiness(), mergedFrom: [], visitorIds: [] }
  const hanging = connectClickHouse(`http://u:p@127.0.0.1:${port}/db`)
  const started = performance.now()
  expect(await readEngagement(hanging, business, contact)).toBeNull()
  expect(performance.now() - started).toBeLessThan(atLoad(1500))
  silent.closeAllConnections()
  await new Promise((resolve) => silent.close(resolve))
  expect(await readEngagement(hanging, business, contact)).toBeNull()
  await hanging.close()
})
