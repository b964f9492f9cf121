/** The visits of one contact, against the view of all visits. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { type Visit, readVisits } from '../../src/timeline/reading/read-visits.ts'
import { link, newVisitor } from '../web-events/web-lab.ts'
import { newBusiness, openLab, query } from './lab.ts'
import { useOpened } from '../support/use-opened.ts'

const MINUTE = 60_000
const T0 = Date.parse('2026-03-01T12:00:00Z')
const lab = useOpened(openLab)

const HITS = 400
/** Pauses in minutes between page views, mostly within a visit. */
const PAUSES = [0, 1, 5, 29, 30, 31, 600]

async function visit(business_id: string, visitor_id: string): Promise<void> {
  let at = T0
  const values = Array.from({ length: HITS }, (_, n) => {
    at += (PAUSES[Math.floor(Math.random() * PAUSES.length)] ?? 0) * MINUTE
    const kind = ['page_view', 'time', 'scroll'][n % 3] ?? 'scroll'
    return {
      business_id,
      visitor_id,
      hit_id: randomUUID(),
      kind,
      page_id: `p${n % 7}`,
      occurred_ms: at,
      received_ms: at,
      url: `https://shop.example/${n % 11}`,
      referrer: kind === 'page_view' && n % 2 === 0 ? `https://other.example/${n}` : '',
      active_ms: kind === 'time' ? 1000 * (n % 50) : 0,
      idle_ms: kind === 'time' ? 500 * (n % 9) : 0,
    }
  })
  await lab.clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
}

it('are those of the view, page by page, from the times in which the browsers belonged to the contact', async () => {
  const business = newBusiness()
  const [ann, bob] = [randomUUID(), randomUUID()]
  const [one, shared, others] = [newVisitor(), newVisitor(), newVisitor()]
  for (const browser of [one, shared, others]) await visit(business, browser)
  await link(lab.clickhouse, [
    { business_id: business, visitor_id: one, from_ms: 0, contact_id: ann },
    { business_id: business, visitor_id: shared, from_ms: 0, contact_id: ann },
    { business_id: business, visitor_id: shared, from_ms: T0 + 3000 * MINUTE, contact_id: bob },
    { business_id: business, visitor_id: shared, from_ms: T0 + 6000 * MINUTE, contact_id: ann },
    { business_id: business, visitor_id: shared, from_ms: T0 + 9000 * MINUTE, contact_id: ann, erased: 1 },
    { business_id: business, visitor_id: others, from_ms: 0, contact_id: bob },
  ])
  const deps = { sql: lab.sql, clickhouse: lab.clickhouse, log: createLogger({ level: 'silent', name: 'test' }) }
  const wanted = { businessId: business, contactIds: [ann], visitorIds: [one, shared, `it's {id:UUID}`], limit: 7 }
  const found: Visit[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof readVisits>> = await readVisits(deps, { ...wanted, cursor })
    if (typeof page === 'string') throw new Error(page)
    found.push(...page.visits)
    cursor = page.nextCursor
  } while (cursor !== null)
  const view = await query<Record<string, unknown>>(
    lab,
    `select visitor_id as visitorId, toUnixTimestamp64Milli(started_at)::Float64 as started,
      toUnixTimestamp64Milli(ended_at)::Float64 as ended, pages::UInt32 as pages, entry_url as entryUrl, exit_url as exitUrl,
      active_ms::Float64 as activeMs, referrer
    from web_sessions where business_id = {business: UUID} and contact_id = {ann: UUID}
    order by started_at desc, visitor_id desc`,
    { business, ann },
  )
  const expected = view.map(({ started, ended, ...rest }) => ({
    ...rest,
    startedAt: new Date(Number(started)).toISOString(),
    endedAt: new Date(Number(ended)).toISOString(),
  }))
  expect(expected.length).toBeGreaterThan(20)
  expect(found).toEqual(expected)
})

it('refuse a cursor of another list', async () => {
  const deps = { sql: lab.sql, clickhouse: lab.clickhouse, log: createLogger({ level: 'silent', name: 'test' }) }
  const wanted = { businessId: newBusiness(), contactIds: [randomUUID()], visitorIds: [newVisitor()], limit: 1 }
  for (const cursor of ['', 'x', '1_x', `1_${newVisitor()}0`])
    expect(await readVisits(deps, { ...wanted, cursor })).toBe('invalid_cursor')
})
