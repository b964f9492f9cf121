/** A batch of web events on its way from the stream to ClickHouse, interrupted and repeated in every way. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { type WebDeps, applyWebBatch } from '../../src/web-events/apply-web-batch.ts'
import { insertHits } from '../../src/web-events/insert-hits.ts'
import { linesOf, tokenOf } from '../../src/web-events/read-captures.ts'
import { stampBatch } from '../../src/web-events/stamp-batch.ts'
import { openStack } from '../support/stack.ts'
import { T0, captureOf, countRows, hitOf, newBusiness, newVisitor, openWebWorker, query } from './web-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(() => openStack({}, { ownClickHouse: true }))
let deps: WebDeps
beforeAll(async () => {
  deps = { sql: stack.sql, clickhouse: stack.clickhouse, log: createLogger({ level: 'silent', name: 'test' }) }
})

const positionOf = async (partition: string) => {
  const [row] = await stack.sql<{ position: string; pending: string | null }[]>`
    select position, pending from positions where partition = ${partition}`
  return row
}

describe('a batch of web events', () => {
  it('is in ClickHouse before the position goes past it', async () => {
    const worker = await openWebWorker(deps)
    const [business, visitor] = [newBusiness(), newVisitor()]
    const hit = hitOf({ id: 'h1', title: 'Ähm "x"', referrer: 'https://a.example/', occurredAt: T0 - 5 })
    expect(await worker.apply(captureOf(business, visitor, [hit]))).toEqual({ kind: 'applied', answers: [] })
    expect(await positionOf(worker.partition)).toEqual({ position: `${T0}-1`, pending: null })
    const rows = await query(stack.clickhouse, 'select * from web_events where business_id = {business: UUID}', {
      business,
    })
    expect(rows).toEqual([
      {
        business_id: business,
        visitor_id: visitor,
        hit_id: 'h1',
        kind: 'page_view',
        page_id: 'p1',
        occurred_ms: String(T0 - 5),
        received_ms: String(T0),
        url: 'https://shop.example/',
        title: 'Ähm "x"',
        referrer: 'https://a.example/',
        depth: 0,
        active_ms: '0',
        idle_ms: '0',
      },
    ])
  })

  it('is repeated by the next owner without a second row, also when the first wakes up again', async () => {
    const worker = await openWebWorker(deps)
    const business = newBusiness()
    const batch = worker.batchOf(captureOf(business, newVisitor(), [hitOf(), hitOf()]))
    await stampBatch(deps.sql, batch)
    const insert = () =>
      insertHits(
        deps.clickhouse,
        linesOf(batch, { erased: [], inactive: [] }),
        tokenOf(batch),
        AbortSignal.timeout(10_000),
      )
    await insert()
    await stack.sql`update positions set epoch = 2 where partition = ${worker.partition}`
    expect((await worker.run({ ...batch, epoch: 2 })).kind).toBe('applied')
    await insert()
    expect((await worker.run(batch)).kind).toBe('fenced')
    expect(await countRows(stack.clickhouse, business)).toBe(2)
  })

  it('counts as applied when only the reply of the commit was lost', async () => {
    const worker = await openWebWorker(deps)
    const batch = worker.batchOf(captureOf(newBusiness(), newVisitor(), [hitOf()]))
    await worker.run(batch)
    expect((await worker.run(batch)).kind).toBe('applied')
  })

  it('writes nothing for an owner that was replaced', async () => {
    const worker = await openWebWorker(deps)
    const business = newBusiness()
    await stack.sql`update positions set epoch = 2 where partition = ${worker.partition}`
    expect((await worker.apply(captureOf(business, newVisitor(), [hitOf()]))).kind).toBe('fenced')
    expect(await countRows(stack.clickhouse, business)).toBe(0)
  })

  it('treats different entries with the same ids as different, as after a Redis lost some', async () => {
    const worker = await openWebWorker(deps)
    const business = newBusiness()
    const lost = worker.batchOf(captureOf(business, newVisitor(), [hitOf()]))
    await insertHits(
      deps.clickhouse,
      linesOf(lost, { erased: [], inactive: [] }),
      tokenOf(lost),
      AbortSignal.timeout(10_000),
    )
    const request = captureOf(business, newVisitor(), [hitOf()])
    await worker.run({ ...lost, requests: [{ streamId: lost.to, frontDoor: 'test', request }] })
    expect(await countRows(stack.clickhouse, business)).toBe(2)
  })

  it('counts a hit that the browser sent again once, as it was received first', async () => {
    const worker = await openWebWorker(deps)
    const [business, visitor] = [newBusiness(), newVisitor()]
    const hit = hitOf({ id: 'again' })
    await worker.apply(captureOf(business, visitor, [{ ...hit, title: 'late' }], { receivedAt: T0 + 50 }))
    await worker.apply(captureOf(business, visitor, [{ ...hit, title: 'first' }]))
    await worker.apply(captureOf(business, newVisitor(), [{ ...hit, title: 'of another visitor' }]))
    const rows = await query(
      stack.clickhouse,
      'select visitor_id = {visitor: String} as same, title from web_hits where business_id = {business: UUID} order by title',
      { business, visitor },
    )
    expect(rows).toEqual([
      { same: 1, title: 'first' },
      { same: 0, title: 'of another visitor' },
    ])
  })

  it('sets aside what cannot be read, and goes on with the rest', async () => {
    const worker = await openWebWorker(deps)
    const business = newBusiness()
    const wrong = hitOf({ title: '\ud800' })
    const batch = worker.batchOf(captureOf(business, newVisitor(), [hitOf(), wrong, hitOf()]))
    const poisoned = { streamId: batch.to, businessId: business, reason: 'It is not an entry.', payload: 'a\0b' }
    await worker.run({ ...batch, poisoned: [poisoned] })
    expect(await countRows(stack.clickhouse, business)).toBe(2)
    const letters = await stack.sql<{ kind: string; payload: string }[]>`
      select kind, payload from dead_letters where business_id = ${business} order by kind`
    expect(letters.map(({ kind }) => kind)).toEqual(['capture', 'unreadable'])
    expect(JSON.parse(letters[0]?.payload ?? '')).toMatchObject({ hits: [wrong] })
    expect(letters[1]?.payload).toBe('a\uFFFDb')
  })

  it('that conflicts with another save in Postgres is repeated, and does not count as a failure of ClickHouse', async () => {
    const worker = await openWebWorker(deps)
    const [business, visitor] = [newBusiness(), newVisitor()]
    const metrics = createMetrics()
    let left = 1
    const erasing = async (strings: TemplateStringsArray, ...values: never[]) => {
      if (strings[0]?.includes('commit_web_batch') && left-- > 0) {
        await stack.sql`
          insert into erased_visits (business_id, visitor_id, from_at, to_at) values (${business}, ${visitor}, 0, ${T0 + 1})`
      }
      return stack.sql(strings, ...values)
    }
    const batch = worker.batchOf(captureOf(business, visitor, [hitOf()]), captureOf(business, newVisitor(), [hitOf()]))
    const meddled = { ...deps, metrics, sql: erasing as unknown as WebDeps['sql'] }
    const outcome = await applyWebBatch(meddled, batch, AbortSignal.timeout(20_000), () => undefined)
    expect(outcome).toEqual({ kind: 'applied', answers: [] })
    expect((await metrics.webFailures.get()).values).toMatchObject([{ value: 0 }])
    const seen = await stack.sql`select visitor_id from visitors where business_id = ${business}`
    expect(seen).toHaveLength(1)
    expect(seen[0]).not.toEqual({ visitor_id: visitor })
  })

  it('stores in Postgres who was seen, and how they came', async () => {
    const worker = await openWebWorker(deps)
    const [business, visitor] = [newBusiness(), newVisitor()]
    const touch = { at: T0 - 1000, url: 'https://shop.example/', utm: { source: 'news' } }
    const hits = [hitOf({ occurredAt: T0 - 10 }), hitOf({ occurredAt: T0 - 500 })]
    await worker.apply(captureOf(business, visitor, hits, { touches: { first: touch, latest: touch } }))
    const rows = await stack.sql`
      select first_seen_at, last_seen_at, first_touch from visitors where business_id = ${business} and visitor_id = ${visitor}`
    expect(rows).toEqual([{ first_seen_at: T0 - 500, last_seen_at: T0 - 10, first_touch: touch }])
  })
})
