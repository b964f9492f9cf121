/** Rewriting a large table can take ClickHouse a long time: erasures wait for it, and nothing else does. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { finishErasures } from '../../src/erasure/finish-erasures.ts'
import { runTimeline } from '../../src/timeline/run-timeline.ts'
import { readShippingFailure } from '../../src/timeline/shipping/shipping-status.ts'
import { finishWebErasures } from '../../src/erasure/finish-web-erasures.ts'
import { newVisitor } from '../web-events/web-lab.ts'
import { type Lab, addContact, countOf, erase, newBusiness, openLab, query, save, waitingRows } from './lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

const TABLES = ['events', 'web_events']
const eventually = { timeout: PATIENCE_MS, interval: 50 }
let lab: Lab
let impatient: ClickHouseClient
beforeAll(async () => {
  lab = await openLab()
  await lab.lease.release()
  impatient = connectClickHouse(lab.clickhouseUrl, { requestTimeoutMs: 700 })
})
afterAll(async () => {
  await impatient.close()
  await lab.close()
})

/** Stops mutations, or starts them again. */
async function mutations(order: 'stop' | 'start'): Promise<void> {
  for (const table of TABLES) await lab.clickhouse.command({ query: `system ${order} merges ${table}` })
}

const openMutations = async () =>
  await query<{ table: string; open: number }>(
    lab,
    `select table, count() as open from system.mutations where database = currentDatabase() and not is_done
      group by table order by table`,
  )

async function startTimeline() {
  const stopping = new AbortController()
  const failures: string[] = []
  const running = runTimeline(
    {
      sql: lab.sql,
      clickhouse: impatient,
      log: lab.log,
      metrics: { timelineFailures: { inc: ({ cause }) => void failures.push(cause) } },
      config: { leaseMs: 5000, outboxKeepMs: 86_400_000, anonymousKeepMs: 86_400_000 },
    },
    stopping.signal,
  )
  const stop = async () => {
    stopping.abort()
    await running
  }
  return { failures, stop }
}

/** Adds a contact with an event and a page view, both in ClickHouse. */
async function addVisitor(business: string): Promise<string> {
  const [contact, visitor] = [await addContact(lab, business), newVisitor()]
  await save(lab, business, [{ contact_id: contact }])
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  const hit = { business_id: business, visitor_id: visitor, hit_id: 'h', kind: 'page_view', occurred_ms: 1 }
  await lab.clickhouse.insert({ table: 'web_events', values: [hit], format: 'JSONEachRow' })
  await lab.sql`
    insert into visitor_links (business_id, visitor_id, from_at, contact_id)
    values (${business}, ${visitor}, 0, ${contact})`
  return contact
}

async function forget(business: string, contact: string): Promise<void> {
  await lab.sql`select erase_web_events(${business}, ${`{${contact}}`}::uuid[])`
  await erase(lab, business, [contact])
}

const unfinished = async () => {
  const [left] = await lab.sql<{ people: number; visits: number }[]>`
    select (select count(*)::int from erasures where deleted_at is null) as people,
      (select count(*)::int from erased_visits where deleted_at is null) as visits`
  return left
}

const hitsOf = async (business: string) =>
  await query(lab, 'select hit_id from web_events where business_id = {business: UUID}', { business })

it('events are shipped, the person is hidden, and nothing is asked twice, while a rewrite is held up', async () => {
  const business = newBusiness()
  const timeline = await startTimeline()
  const erased = await addVisitor(business)
  const other = await addContact(lab, business)
  await mutations('stop')
  await forget(business, erased)
  await expect.poll(openMutations, eventually).toEqual(TABLES.map((table) => ({ table, open: 1 })))
  const late = await addVisitor(business)
  await forget(business, late)
  // First the rewrite exceeds its time limit; then retries find it still running.
  await expect.poll(() => timeline.failures.length, eventually).toBeGreaterThan(5)
  await save(lab, business, [{ contact_id: other }])
  await expect.poll(() => waitingRows(lab), eventually).toBe(0)
  expect(await openMutations()).toEqual(TABLES.map((table) => ({ table, open: 1 })))
  const seen = await query(lab, 'select contact_id from timeline where business_id = {business: UUID}', { business })
  expect(seen).toEqual([{ contact_id: other }])
  expect(await readShippingFailure(lab.sql)).toBeUndefined()
  expect(await unfinished()).toEqual({ people: 2, visits: 2 })
  await mutations('start')
  await expect.poll(unfinished, eventually).toEqual({ people: 0, visits: 0 })
  await timeline.stop()
  expect(await countOf(lab, business)).toEqual({ events: 1, counted: 1 })
  expect(await hitsOf(business)).toEqual([])
})

it('a stop does not wait for a rewrite, and the next life finishes it', async () => {
  const business = newBusiness()
  const timeline = await startTimeline()
  const erased = await addVisitor(business)
  await mutations('stop')
  await forget(business, erased)
  await expect.poll(openMutations, eventually).toEqual(TABLES.map((table) => ({ table, open: 1 })))
  const stopped = performance.now()
  await timeline.stop()
  expect(performance.now() - stopped).toBeLessThan(atLoad(2000))
  await expect(finishErasures(lab)).rejects.toThrow(/^ClickHouse has been rewriting events since \d{4}-/)
  await expect(finishWebErasures(lab)).rejects.toThrow(/^ClickHouse has been rewriting web_events since /)
  await mutations('start')
  await expect.poll(openMutations, eventually).toEqual([])
  expect([await finishErasures(lab), await finishWebErasures(lab)]).toEqual([1, 1])
  expect(await countOf(lab, business)).toEqual({ events: 0, counted: 0 })
  expect(await hitsOf(business)).toEqual([])
})
