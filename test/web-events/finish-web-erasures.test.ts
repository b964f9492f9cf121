// @long
/** The web events of an erased person are gone, and requests that were in progress do not bring them back. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../src/log.ts'
import type { WebDeps } from '../../src/web-events/apply-web-batch.ts'
import { commitBatch } from '../../src/web-events/commit-batch.ts'
import { finishWebErasures } from '../../src/erasure/finish-web-erasures.ts'
import { insertHits } from '../../src/web-events/insert-hits.ts'
import { linesOf, sightingsOf, tokenOf } from '../../src/web-events/read-captures.ts'
import { stampBatch } from '../../src/web-events/stamp-batch.ts'
import { type Stack, openStack } from '../support/stack.ts'
import { T0, captureOf, hitOf, newBusiness, newVisitor, openWebWorker, query, type WebWorker } from './web-lab.ts'

let stack: Stack
let deps: WebDeps
let worker: WebWorker
beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  deps = { sql: stack.sql, clickhouse: stack.clickhouse, log: createLogger({ level: 'silent', name: 'test' }) }
})
beforeEach(async () => {
  worker = await openWebWorker(deps)
})
afterAll(() => stack.close())

const at = (...ids: number[]) => ids.map((n) => hitOf({ id: `h${n}`, occurredAt: T0 + n }))

async function linkTo(business: string, visitor: string, links: [from: number, contact: string][]): Promise<void> {
  for (const [from, contact] of links)
    await stack.sql`
      insert into visitor_links (business_id, visitor_id, from_at, contact_id)
      values (${business}, ${visitor}, ${from}, ${contact})`
}

const erase = (business: string, ...ids: string[]) =>
  stack.sql`select erase_web_events(${business}, ${`{${ids.join(',')}}`}::uuid[])`

async function hitsOf(business: string): Promise<string[]> {
  const rows = await query<{ hit_id: string }>(
    stack.clickhouse,
    'select hit_id from web_events final where business_id = {business: UUID} order by hit_id',
    { business },
  )
  return rows.map(({ hit_id }) => hit_id)
}

it('deletes the times in which the browser was theirs, and no others', async () => {
  const [business, elsewhere, shared, own] = [newBusiness(), newBusiness(), newVisitor(), newVisitor()]
  const [ann, bob] = [newBusiness(), newBusiness()]
  await worker.apply(
    captureOf(business, shared, at(1, 2, 3, 4)),
    captureOf(business, own, at(7)),
    captureOf(elsewhere, shared, at(8)),
  )
  await linkTo(business, shared, [
    [0, bob],
    [T0 + 2, ann],
    [T0 + 4, bob],
  ])
  await linkTo(business, own, [[0, ann]])
  await linkTo(business, 'sent by a server', [[0, ann]])
  await erase(business, ann)
  expect(await finishWebErasures(deps)).toBe(2)
  expect(await finishWebErasures(deps)).toBe(0)
  expect(await hitsOf(business)).toEqual(['h1', 'h4'])
  expect(await hitsOf(elsewhere)).toEqual(['h8'])
})

it('rejects everything that was captured before and arrives later, and takes everything captured after', async () => {
  const [business, visitor, ann] = [newBusiness(), newVisitor(), newBusiness()]
  await linkTo(business, visitor, [[0, ann]])
  await erase(business, ann)
  const later = hitOf({ id: 'later', occurredAt: Date.now() + 60_000 })
  const touch = { at: T0, url: 'https://shop.example/' }
  const touches = { first: touch, latest: touch }
  await worker.apply(
    captureOf(business, visitor, at(1), { touches }),
    captureOf(business, visitor, [later], { touches }),
  )
  expect(await hitsOf(business)).toEqual(['later'])
  const seen = await stack.sql`
    select first_seen_at, first_touch from visitors where business_id = ${business} and visitor_id = ${visitor}`
  expect(seen).toEqual([{ first_seen_at: later.occurredAt, first_touch: null }])
  expect(await finishWebErasures(deps)).toBe(1)
  expect(await hitsOf(business)).toEqual(['later'])
})

it('waits for what was on its way, also when its owner dies and another repeats it', async () => {
  const [business, visitor, ann] = [newBusiness(), newVisitor(), newBusiness()]
  await linkTo(business, visitor, [[0, ann]])
  const batch = worker.batchOf(captureOf(business, visitor, at(1)))
  await stampBatch(deps.sql, batch)
  await erase(business, ann)
  expect(await finishWebErasures(deps)).toBe(0)
  await insertHits(
    deps.clickhouse,
    linesOf(batch, { erased: [], inactive: [] }),
    tokenOf(batch),
    AbortSignal.timeout(10_000),
  )
  expect(await finishWebErasures(deps)).toBe(0)
  await stack.sql`update positions set epoch = 2 where partition = ${worker.partition}`
  await worker.run({ ...batch, epoch: 2 })
  expect(await finishWebErasures(deps)).toBe(1)
  expect(await hitsOf(business)).toEqual([])
})

it('deletes again, an hour later, what came so late that ClickHouse had forgotten it', async () => {
  const [business, visitor, ann] = [newBusiness(), newVisitor(), newBusiness()]
  await linkTo(business, visitor, [[0, ann]])
  const batch = worker.batchOf(captureOf(business, visitor, at(1)))
  await stampBatch(deps.sql, batch)
  await erase(business, ann)
  // All hits belong to the erased person: nothing is inserted, so no token is known.
  await worker.run(batch)
  expect(await finishWebErasures(deps)).toBe(1)
  await insertHits(
    deps.clickhouse,
    linesOf(batch, { erased: [], inactive: [] }),
    tokenOf(batch),
    AbortSignal.timeout(10_000),
  )
  expect(await hitsOf(business)).toEqual(['h1'])
  const wait = (time: string) =>
    stack.sql`update erased_visits set deleted_at = now() - ${time}::interval where business_id = ${business}`
  await wait('59 minutes')
  expect(await finishWebErasures(deps)).toBe(0)
  await wait('61 minutes')
  expect(await finishWebErasures(deps)).toBe(1)
  expect(await hitsOf(business)).toEqual([])
  expect(await finishWebErasures(deps)).toBe(0)
})

it('keeps no trace of a visitor that was erased between the stamp and the commit', async () => {
  const [business, visitor, ann] = [newBusiness(), newVisitor(), newBusiness()]
  await linkTo(business, visitor, [[0, ann]])
  const batch = worker.batchOf(captureOf(business, visitor, at(1)))
  await stampBatch(deps.sql, batch)
  await erase(business, ann)
  await expect(
    commitBatch(deps.sql, batch, [], sightingsOf(batch, { erased: [], inactive: [] })),
  ).rejects.toMatchObject({ code: '40001' })
  expect((await worker.run(batch)).kind).toBe('applied')
  expect(
    await stack.sql`select from visitors where business_id = ${business} and visitor_id = ${visitor}`,
  ).toHaveLength(0)
  expect(await finishWebErasures(deps)).toBe(1)
})

it('deletes their dead letters', async () => {
  const [business, visitor, ann] = [newBusiness(), newVisitor(), newBusiness()]
  await linkTo(business, visitor, [[0, ann]])
  await worker.apply(
    captureOf(business, visitor, [hitOf({ title: '\ud800' })]),
    captureOf(business, newVisitor(), [hitOf({ title: '\ud800' })]),
  )
  await erase(business, ann)
  await finishWebErasures(deps)
  const letters = await stack.sql<
    { payload: string }[]
  >`select payload from dead_letters where business_id = ${business}`
  expect(letters.map(({ payload }) => payload.includes(visitor))).toEqual([false])
})

it('is repeated when the browser was identified and erased again', async () => {
  const [business, visitor, ann, bob] = [newBusiness(), newVisitor(), newBusiness(), newBusiness()]
  await linkTo(business, visitor, [[0, ann]])
  await erase(business, ann)
  await finishWebErasures(deps)
  await stack.sql`update visitor_links set contact_id = ${bob} where business_id = ${business}`
  await stack.sql`update erased_visits set to_at = ${T0} where business_id = ${business}`
  await worker.apply(captureOf(business, visitor, at(1)))
  expect(await hitsOf(business)).toEqual(['h1'])
  await erase(business, bob)
  expect(await finishWebErasures(deps)).toBe(1)
  expect(await hitsOf(business)).toEqual([])
})
