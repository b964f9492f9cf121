import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { batchDelayMs, runTimeline } from '../../src/timeline/run-timeline.ts'
import { readShippingFailure } from '../../src/timeline/shipping/shipping-status.ts'
import { type Gate, openGate } from './gate.ts'
import { type Lab, addContact, countOf, erase, newBusiness, openLab, query, save, waitingRows } from './lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

let lab: Lab
let gate: Gate
let gated: ClickHouseClient
beforeAll(async () => {
  lab = await openLab()
  await lab.lease.release()
  gate = await openGate(lab.clickhouseUrl)
  gated = connectClickHouse(gate.url)
})
/** Shippers that a failed test has left running: they would keep the lease from the next test. */
const shippers = new Set<{ stop(): Promise<void> }>()
afterEach(async () => {
  gate.open()
  for (const one of shippers) await one.stop()
})
afterAll(async () => {
  await gated?.close()
  await gate?.close()
  await lab?.close()
})

function start(metrics = {}, leaseMs = 1000, outboxKeepMs = 86_400_000): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const config = { leaseMs, outboxKeepMs, anonymousKeepMs: 86_400_000 }
  const done = runTimeline({ sql: lab.sql, clickhouse: gated, log: lab.log, metrics, config }, stopping.signal)
  const started = {
    stop: async () => {
      stopping.abort()
      await done
      shippers.delete(started)
    },
  }
  shippers.add(started)
  return started
}

const eventually = { timeout: PATIENCE_MS, interval: 50 }

test.each([
  [0, 500],
  [2000, 800],
  [10_000, 2000],
  [10_001, 2000],
])('after a group of %i events the next begins %i ms later', (events, ms) => {
  expect(batchDelayMs(events)).toBe(ms)
})

test('ClickHouse going away in the middle and coming back delays the timeline and changes nothing in it', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const seen = { lag: 0, rows: 0, inserted: 0, durations: 0 }
  const running = start({
    outboxRows: { set: (n: number) => (seen.rows = Math.max(seen.rows, n)) },
    outboxLagSeconds: { set: (n: number) => (seen.lag = Math.max(seen.lag, n)) },
    timelineRows: { inc: (n: number) => (seen.inserted += n) },
    timelineInsertSeconds: { observe: () => (seen.durations += 1) },
  })
  let saved = 0
  for (const change of [gate.shut, gate.open, gate.swallow, gate.open, gate.shut]) {
    change()
    for (let i = 0; i < 5; i += 1) {
      await save(lab, business, [{ contact_id: contact }, { contact_id: contact, event: 'other' }])
      saved += 2
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }
  expect(await waitingRows(lab)).toBeGreaterThan(0)
  gate.open()
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  expect(await countOf(lab, business)).toEqual({ events: saved, counted: saved })
  await running.stop()
  expect(seen.inserted).toBe(saved)
  expect(seen.durations).toBeGreaterThan(0)
})

test('what keeps the timeline from being shipped is reported, with its beginning, until it is over', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  const causes: string[] = []
  const running = start({ timelineFailures: { inc: ({ cause }: { cause: string }) => void causes.push(cause) } })
  // An earlier shipper may have been stopped after its success, before it could report it.
  await expect.poll(() => readShippingFailure(lab.sql), eventually).toBeUndefined()
  gate.shut()
  await save(lab, business, [{ contact_id: contact }])
  await expect.poll(() => readShippingFailure(lab.sql), eventually).toMatch(/^timeline: not shipped since \d{4}-.*Z: ./)
  // The reason may differ from one attempt to the next.
  const readBeginning = async () => (await readShippingFailure(lab.sql))?.split('Z: ')[0]
  const beginning = await readBeginning()
  const failures = causes.length
  await expect.poll(() => causes.length, eventually).toBeGreaterThan(failures)
  expect(await readBeginning()).toBe(beginning)
  expect(new Set(causes)).toEqual(new Set(['other']))
  gate.open()
  await expect.poll(() => readShippingFailure(lab.sql), eventually).toBeUndefined()
  await running.stop()
})

test('a stop in the middle loses nothing, and the next owner goes on at once', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  let saved = 0
  for (let life = 0; life < 6; life += 1) {
    await save(
      lab,
      business,
      Array.from({ length: 400 }, () => ({ contact_id: contact })),
    )
    saved += 400
    const running = start({}, 60_000)
    await new Promise((resolve) => setTimeout(resolve, 12 * life))
    await running.stop()
  }
  const last = start({}, 60_000)
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  await last.stop()
  expect(await countOf(lab, business)).toEqual({ events: saved, counted: saved })
})

test('a round that took longer than the next has to wait for is followed at once, without a warning', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  await lab.sql`update outbox set group_id = gen_random_uuid() where shipped_at is null`
  const warnings: string[] = []
  const listen = ({ name }: Error) => void warnings.push(name)
  process.on('warning', listen)
  const timeline = start()
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  await save(lab, business, [{ contact_id: contact }])
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  await timeline.stop()
  process.off('warning', listen)
  expect(warnings).toEqual([])
})

test('an event that comes after a rest is taken at the next look, a second later at most', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  // Even if the lease has to be renewed only rarely.
  const running = start({}, 60_000)
  const waits: number[] = []
  for (const restMs of [2000, 2200, 2400, 2600, 2800]) {
    await new Promise((resolve) => setTimeout(resolve, restMs))
    const saved = performance.now()
    await save(lab, business, [{ contact_id: contact }])
    await expect.poll(() => waitingRows(lab), { timeout: PATIENCE_MS, interval: 10 }).toBe(0)
    waits.push(performance.now() - saved)
  }
  await running.stop()
  // The median: a busy machine may stall once or twice.
  expect(waits.toSorted((a, b) => a - b)[2]).toBeLessThan(atLoad(1500))
})

test('one process ships and the other stands by, until the first is gone', async () => {
  const first = start()
  const second = start()
  const business = newBusiness()
  const contact = await addContact(lab, business)
  for (let i = 0; i < 10; i += 1) await save(lab, business, [{ contact_id: contact }])
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  await first.stop()
  await save(lab, business, [{ contact_id: contact }])
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  await second.stop()
  expect(await countOf(lab, business)).toEqual({ events: 11, counted: 11 })
})

test('an erasure is finished by itself', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  const running = start()
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  await erase(lab, business, [contact])
  await expect
    .poll(async () => await lab.sql`select from erasures where deleted_at is null`, eventually)
    .toHaveLength(0)
  await running.stop()
  expect(await countOf(lab, business)).toEqual({ events: 0, counted: 0 })
  expect(await query(lab, 'select * from contacts where business_id = {business: UUID}', { business })).toEqual([])
})

test('what cannot be measured or purged holds up neither events nor erasures', async () => {
  const business = newBusiness()
  const [contact, erased] = [await addContact(lab, business), await addContact(lab, business)] as const
  await save(lab, business, [{ contact_id: contact }, { contact_id: erased }])
  await erase(lab, business, [erased])
  const failing = {
    set: () => {
      throw new Error('cannot be set')
    },
  }
  const running = start({ outboxLagSeconds: failing }, 1000, Number.MAX_SAFE_INTEGER)
  await expect.poll(() => waitingRows(lab), { timeout: PATIENCE_MS }).toBe(0)
  await expect
    // While ClickHouse is still rewriting tables for another erasure, an erasure is retried every three seconds.
    .poll(async () => await lab.sql`select from erasures where deleted_at is null`, eventually)
    .toHaveLength(0)
  await running.stop()
  expect(await countOf(lab, business)).toEqual({ events: 1, counted: 1 })
})

test('visitors who stay away are deleted step by step, however many there are', async () => {
  const business = newBusiness()
  await lab.sql`
    insert into visitors (business_id, visitor_id, first_seen_at, last_seen_at)
    select ${business}, 'v' || n, 1, 1 from generate_series(1, 4001) n`
  const running = start()
  await expect
    .poll(async () => await lab.sql`select from visitors where business_id = ${business}`, { timeout: PATIENCE_MS })
    .toEqual([])
  await running.stop()
})

test('shipped rows that are too old are deleted step by step, however many there are', async () => {
  await lab.sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed, shipped_at)
    select '', 0, '{}', '{}', '{}', now() - interval '2 days' from generate_series(1, 4001)`
  const running = start()
  await expect
    .poll(async () => await lab.sql`select from outbox where shipped_at < now() - interval '1 day'`, {
      timeout: PATIENCE_MS,
    })
    .toEqual([])
  await running.stop()
})
