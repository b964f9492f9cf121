// @long
/**
 * The views of web events for analysts: however hits are split and ordered, they result in the same sessions and page
 * views.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WebHit } from '../../src/rules/visitors/web-facts.ts'
import { createLogger } from '../../src/log.ts'
import { insertHits } from '../../src/web-events/insert-hits.ts'
import { type WebEventLine, linesOf } from '../../src/web-events/read-captures.ts'
import { openStack } from '../support/stack.ts'
import { MINUTE, T0, captureOf, hitOf, link, newBusiness, newVisitor, openWebWorker, query } from './web-lab.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(() => openStack({}, { ownClickHouse: true }))

/** Inserts each list of hits separately. */
async function insert(business: string, visitor: string, ...lists: WebHit[][]): Promise<void> {
  for (const hits of lists) {
    const requests = [{ streamId: '1-1', frontDoor: 'test', request: captureOf(business, visitor, hits) }]
    const lines: WebEventLine[] = linesOf(
      { partition: 'web-0', epoch: 1, from: '', to: '', requests, poisoned: [] },
      { erased: [], inactive: [] },
    )
    await insertHits(stack.clickhouse, lines, crypto.randomUUID(), AbortSignal.timeout(20_000))
  }
}

interface Session {
  from: number
  to: number
  pages: number
  entry_url: string
  exit_url: string
  active: number
  idle: number
}

const readSessions = (business: string) =>
  query<Session>(
    stack.clickhouse,
    `select toUnixTimestamp64Milli(started_at)::Float64 as from, toUnixTimestamp64Milli(ended_at)::Float64 as to,
      pages::UInt8 as pages, entry_url, exit_url, active_ms::Float64 as active, idle_ms::Float64 as idle
    from web_sessions where business_id = {business: UUID} order by from`,
    { business },
  )

/** The same result, calculated plainly. */
function sessionsOf(hits: WebHit[]): Session[] {
  const placed = hits
    .map((hit) => {
      const long = hit.kind === 'time' ? hit.activeMs + hit.idleMs : 0
      return { ...hit, from: hit.occurredAt - long, to: hit.occurredAt - (hit.kind === 'time' ? hit.idleMs : 0) }
    })
    .toSorted((a, b) => a.from - b.from || (a.id < b.id ? -1 : 1))
  const groups: (typeof placed)[] = []
  let end = -Infinity
  for (const hit of placed) {
    if (hit.from - end >= 30 * MINUTE) groups.push([])
    groups.at(-1)?.push(hit)
    end = Math.max(end, hit.to)
  }
  return groups.map((group) => {
    const views = group.filter(({ kind }) => kind === 'page_view')
    const pages = views.length > 0 ? views : group
    return {
      from: Math.min(...group.map(({ from }) => from)),
      to: Math.max(...group.map(({ to }) => to)),
      pages: new Set(views.map(({ pageId }) => pageId)).size,
      entry_url: pages[0]?.url ?? '',
      exit_url: pages.at(-1)?.url ?? '',
      active: group.reduce((sum, { activeMs }) => sum + activeMs, 0),
      idle: group.reduce((sum, { idleMs }) => sum + idleMs, 0),
    }
  })
}

const hits = fc
  .array(
    fc.record({
      kind: fc.constantFrom('page_view' as const, 'page_view' as const, 'scroll' as const, 'time' as const),
      minutes: fc.integer({ min: 0, max: 300 }),
      activeMs: fc.integer({ min: 0, max: 40 * MINUTE }),
      idleMs: fc.integer({ min: 0, max: 40 * MINUTE }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((seeds) =>
    seeds.map(({ kind, minutes, activeMs, idleMs }, at) =>
      hitOf({
        id: `h${String(at).padStart(2, '0')}`,
        kind,
        pageId: `p${at}`,
        occurredAt: T0 + minutes * MINUTE,
        url: `https://shop.example/${at}`,
        ...(kind === 'time' && { activeMs, idleMs }),
      }),
    ),
  )

describe('sessions', () => {
  it('are the same whatever the order and cutting of hits, and however often they came', async () => {
    const shuffled = hits.chain((made) =>
      fc.record({
        made: fc.constant(made),
        sent: fc.shuffledSubarray([...made, ...made], { minLength: made.length * 2, maxLength: made.length * 2 }),
        cut: fc.integer({ min: 0, max: made.length * 2 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(shuffled, async ({ made, sent, cut }) => {
        const business = newBusiness()
        await insert(business, newVisitor(), sent.slice(0, cut), sent.slice(cut))
        expect(await readSessions(business)).toEqual(sessionsOf(made))
      }),
      { numRuns: runs(10) },
    )
  })

  it('end after 30 minutes without a sign of life, and not a millisecond earlier', async () => {
    const [together, apart] = [newBusiness(), newBusiness()]
    const view = (occurredAt: number) => hitOf({ occurredAt, pageId: `${occurredAt}` })
    await insert(together, newVisitor(), [view(T0), view(T0 + 30 * MINUTE - 1)])
    await insert(apart, newVisitor(), [view(T0), view(T0 + 30 * MINUTE)])
    expect((await readSessions(together)).map(({ pages }) => pages)).toEqual([2])
    expect((await readSessions(apart)).map(({ pages }) => pages)).toEqual([1, 1])
  })

  it('show the campaign of the page that they began on', async () => {
    const business = newBusiness()
    const entry = 'https://shop.example/a?utm_source=news&utm_campaign=spring+sale%21'
    const first = hitOf({ url: entry, referrer: 'https://mail.example/' })
    await insert(business, newVisitor(), [
      first,
      hitOf({ occurredAt: T0 + 1, pageId: 'p2', url: 'https://shop.example/b?utm_source=other' }),
    ])
    const rows = await query(
      stack.clickhouse,
      'select utm_source, utm_medium, utm_campaign, referrer, exit_url from web_sessions where business_id = {business: UUID}',
      { business },
    )
    expect(rows).toEqual([
      {
        utm_source: 'news',
        utm_medium: '',
        utm_campaign: 'spring sale!',
        referrer: 'https://mail.example/',
        exit_url: 'https://shop.example/b?utm_source=other',
      },
    ])
  })
})

describe('page views', () => {
  it('gather all hits of a page, however late', async () => {
    const [business, visitor] = [newBusiness(), newVisitor()]
    const more = [
      hitOf({ kind: 'time', activeMs: 5000, idleMs: 100, occurredAt: T0 + 6000 }),
      hitOf({ kind: 'scroll', depth: 50, occurredAt: T0 + 2000 }),
      hitOf({ kind: 'scroll', depth: 25, occurredAt: T0 + 1000 }),
      hitOf({ kind: 'time', activeMs: 1, idleMs: 0, occurredAt: T0 + 9000 }),
      hitOf({ kind: 'time', pageId: 'unseen', activeMs: 7 }),
    ]
    await insert(business, visitor, more, [hitOf({ url: 'https://shop.example/#/cart?x', title: 'Cart' })])
    const rows = await query(
      stack.clickhouse,
      `select visitor_id, contact_id, toUnixTimestamp64Milli(viewed_at)::Float64 as at, host, path, title, active_ms::UInt32 as active,
        idle_ms::UInt32 as idle, depth from web_page_views where business_id = {business: UUID}`,
      { business },
    )
    expect(rows).toEqual([
      {
        visitor_id: visitor,
        contact_id: null,
        at: T0,
        host: 'shop.example',
        path: '/#/cart',
        title: 'Cart',
        active: 5001,
        idle: 100,
        depth: 50,
      },
    ])
  })
})

it.each([
  ['https://shop.example/a', 'shop.example'],
  ['http://localhost/', 'localhost'],
  ['http://localhost:3000/a:b@c', 'localhost'],
  ['http://intranet', 'intranet'],
  ['http://intranet?at=a.b:1', 'intranet'],
  ['http://ann:se:cr@et@intranet:80#@x', 'intranet'],
  ['http://[::1]/', '[::1]'],
  ['http://ann@[2001:db8::1]:8080/x', '[2001:db8::1]'],
  ['http://127.0.0.1:8080', '127.0.0.1'],
  ['https://xn--bcher-kva.example:443/', 'xn--bcher-kva.example'],
  ['file:///home', ''],
  ['/only/a/path://x', ''],
])('the host of %s is "%s"', async (url, host) => {
  const business = newBusiness()
  await insert(business, newVisitor(), [hitOf({ url })])
  const rows = await query(stack.clickhouse, 'select host from web_hits where business_id = {business: UUID}', {
    business,
  })
  expect(rows).toEqual([{ host }])
})

describe('whose web events are', () => {
  const personOf = (contact: string | null, at: number) => ({ contact_id: contact, at })

  async function readPeople(business: string) {
    return await query(
      stack.clickhouse,
      `select contact_id, toUnixTimestamp64Milli(started_at)::Float64 as at from web_sessions
      where business_id = {business: UUID} order by at`,
      { business },
    )
  }

  it('follows from the links of the browser, merges and erasures', async () => {
    const [business, visitor] = [newBusiness(), newVisitor()]
    const [ann, bob, eve, merged] = [newBusiness(), newBusiness(), newBusiness(), newBusiness()]
    const at = [0, 1, 2, 3].map((n) => T0 + n * 1000)
    await insert(
      business,
      visitor,
      at.map((occurredAt) => hitOf({ occurredAt, pageId: `${occurredAt}` })),
    )
    expect(await readPeople(business)).toEqual([personOf(null, T0)])
    const base = { business_id: business, visitor_id: visitor }
    await link(stack.clickhouse, [
      { ...base, from_ms: 0, contact_id: merged },
      { ...base, from_ms: at[1] ?? 0, contact_id: bob },
      { ...base, from_ms: at[2] ?? 0, contact_id: eve },
      { ...base, from_ms: at[3] ?? 0, contact_id: eve, erased: 1 },
    ])
    await stack.clickhouse.insert({
      table: 'contact_redirects',
      values: [
        { business_id: business, contact_id: merged, revision: 1, survivor_id: ann, erased: 0 },
        { business_id: business, contact_id: eve, revision: 1, survivor_id: null, erased: 1 },
      ],
      format: 'JSONEachRow',
    })
    expect(await readPeople(business)).toEqual([personOf(ann, T0), personOf(bob, T0 + 1000), personOf(null, T0 + 3000)])
  })

  it('keeps businesses apart', async () => {
    const [one, other, visitor] = [newBusiness(), newBusiness(), newVisitor()]
    await insert(one, visitor, [hitOf()])
    await link(stack.clickhouse, [{ business_id: other, visitor_id: visitor, from_ms: 0, contact_id: newBusiness() }])
    expect(await readPeople(one)).toEqual([personOf(null, T0)])
    expect(await readPeople(other)).toEqual([])
  })
})

it('a partition that has nothing but erased hits goes on', async () => {
  const worker = await openWebWorker({ ...stack, log: createLogger({ level: 'silent', name: 'test' }) })
  const [business, visitor] = [newBusiness(), newVisitor()]
  await stack.sql`insert into erased_visits (business_id, visitor_id, from_at, to_at) values (${business}, ${visitor}, 0, ${T0 + 1})`
  expect((await worker.apply(captureOf(business, visitor, [hitOf()]))).kind).toBe('applied')
  expect(await readSessions(business)).toEqual([])
})
