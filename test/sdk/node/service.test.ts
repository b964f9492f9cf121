/**
 * The package against the whole service, over a network that loses requests and answers: Postgres must hold each fact
 * once.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type BatchEvent, type EventInput, type Lost, Sluice } from '../../../src/sdk/node/sluice.ts'
import { readPeople } from '../../support/read-people.ts'
import { openService, type Service } from '../../support/service.ts'
import { createBusiness, type TestBusiness } from '../../support/stack.ts'

/** The fate of a request: it is lost before the service, or its answer is lost in one of several ways. */
type Fate = 'passes' | 'lost' | 'swallowed' | 'failed' | 'limited'

let service: Service
let way: { url: string; fate: (request: number) => Fate; requests: number; close: () => Promise<void> }
let business: TestBusiness

beforeAll(async () => {
  service = await openService()
  way = await openWay(service.url)
})
afterAll(async () => {
  await way.close()
  await service.close()
})
beforeEach(async () => {
  way.fate = () => 'passes'
  way.requests = 0
  business = await createBusiness(service.sql)
})

async function openWay(target: string): Promise<typeof way> {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fate = opened.fate(++opened.requests)
    const body = await buffer(request)
    if (fate === 'lost') return void request.socket.destroy()
    if (fate === 'limited') return void response.writeHead(429, { 'retry-after': '0' }).end()
    const { authorization = '' } = request.headers
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(target + request.url, { method: 'POST', headers, body })
    const text = await answer.text()
    if (fate === 'swallowed') return void request.socket.destroy()
    if (fate === 'failed') return void response.writeHead(502).end('a proxy says so')
    return void response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text)
  }
  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const opened = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fate: (_request: number): Fate => 'passes',
    requests: 0,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return opened
}

/** One request in three fails, each in another way than the previous one. */
const FATES: Fate[] = ['lost', 'swallowed', 'failed', 'limited']
const hurt = (request: number): Fate => (request % 3 === 0 ? FATES[(request / 3) % FATES.length]! : 'passes')

function open(): { sluice: Sluice; lost: Lost[] } {
  const lost: Lost[] = []
  const sluice = new Sluice({
    apiKey: business.secretKey,
    baseUrl: way.url,
    onError: (one) => lost.push(one),
    minRetryMs: 1,
    maxRetryMs: 10,
  })
  return { sluice, lost }
}

describe('trackNow', () => {
  const event: EventInput = {
    event: 'invoice_paid',
    identity: { email: 'ann@x.io', phone: '123' },
    value: 10.5,
    idempotencyKey: 'k',
  }

  it('returns what the service did, and that a repeat was one', async () => {
    const { sluice } = open()
    const first = await sluice.trackNow(event)
    expect(first).toEqual({
      ok: true,
      status: 200,
      attempts: 1,
      contactId: expect.any(String) as string,
      event: 'invoice_paid',
      isNew: true,
      deduped: false,
      interpreted: { type: 'purchase', countedRevenue: 10.5 },
      warnings: [expect.stringContaining('phone') as string],
    })
    expect(await sluice.trackNow(event)).toMatchObject({ ok: true, contactId: first.contactId, deduped: true })
  })

  it('says why the service refuses', async () => {
    const { sluice } = open()
    expect(await sluice.trackNow({ ...event, identity: {} })).toMatchObject({
      ok: false,
      status: 400,
      attempts: 1,
      error: { code: 'identity_required', retryable: false },
    })
    const stranger = new Sluice({ apiKey: 'sk_live_nobody', baseUrl: way.url })
    expect(await stranger.trackNow(event)).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } })
    const page = new Sluice({ apiKey: business.publishableKey, baseUrl: way.url })
    expect(await page.trackNow(event)).toMatchObject({ status: 403, error: { code: 'publishable_key' } })
  })

  it('does not wait for the end of a rate limit that is later than it may be', async () => {
    business = await createBusiness(service.sql, { rateLimit: 1 })
    const { sluice } = open()
    expect(await sluice.trackNow(event)).toMatchObject({ ok: true })
    expect(await sluice.trackNow(event, { deadlineMs: 500 })).toMatchObject({
      ok: false,
      status: 429,
      attempts: 1,
      error: { code: 'rate_limited', retryable: true },
    })
  })
})

const PEOPLE = 12
const EVENTS = 240
/** Returns an identity by email, by customer id, or by both, so that the three are one person. */
function identityOf(number: number): EventInput['identity'] {
  const person = number % PEOPLE
  // The customer id 0 stands for nobody.
  const [email, platformCustomerId] = [`person-${person}@x.io`, person + 1]
  return number < PEOPLE ? { email, platformCustomerId } : number % 2 ? { email } : { platformCustomerId }
}

/** Returns the state that Postgres must have after these numbers. */
function expectedPeople(numbers: number[]): unknown[] {
  const byPerson = Map.groupBy(numbers, (number) => number % PEOPLE)
  return [...byPerson].map(([person, own]) => ({
    identities: [`email:person-${person}@x.io`, `platformCustomerId:${person + 1}`],
    orders: own.length,
    count: own.length,
    revenue: { USD: own.reduce((sum, number) => sum + number, 0).toString() },
  }))
}

async function heldPeople(): Promise<unknown[]> {
  const people = await readPeople(service.sql, business.businessId)
  return people.map(({ identities, orders, events, revenue }) => ({
    identities,
    orders,
    count: Object.values(events).reduce((sum, [, , count]) => sum + count, 0),
    revenue,
  }))
}

const NUMBERS = Array.from({ length: EVENTS }, (_, number) => number)

it('tracked events are stored once, whatever is lost on the way', async () => {
  way.fate = hurt
  const { sluice, lost } = open()
  for (const number of NUMBERS) sluice.track({ event: 'purchase', identity: identityOf(number), value: number + 1 })
  await sluice.close(100_000)
  expect(lost).toEqual([])
  const held = await heldPeople()
  expect(held.length).toBe(PEOPLE)
  expect(held).toEqual(
    expect.arrayContaining(
      expectedPeople(NUMBERS).map((person) => {
        const { revenue, ...rest } = person as { revenue: { USD: string } }
        const orders = EVENTS / PEOPLE
        return { ...rest, revenue: { USD: String(Number(revenue.USD) + orders) } }
      }),
    ),
  )
})

it('tracked events arrive in order: the timeline by receipt is the order of the calls', async () => {
  way.fate = hurt
  const { sluice } = open()
  const occurredAt = '2020-01-01T00:00:00Z'
  for (const number of NUMBERS.slice(0, 60))
    sluice.track({ event: 'step', identity: { email: 'ann@x.io' }, occurredAt, properties: { number } })
  await sluice.flush()
  await service.shipped()
  const rows = await service.clickhouse.query({
    query: `select toUInt32(JSONExtractInt(properties, 'number')) as number, toFloat64(received_at) as received
      from timeline where business_id = {business:UUID} order by number`,
    query_params: { business: business.businessId },
    format: 'JSONEachRow',
  })
  const held = await rows.json<{ number: number; received: number }>()
  expect(held.map(({ number }) => number)).toEqual(NUMBERS.slice(0, 60))
  const receipts = held.map(({ received }) => received)
  expect(receipts).toEqual(receipts.toSorted((a, b) => a - b))
})

it('an identified person is one contact, also when identified again', async () => {
  way.fate = hurt
  const { sluice, lost } = open()
  for (const number of NUMBERS.slice(0, 36))
    sluice.identify({ identity: identityOf(number), profile: { name: `Person ${number % PEOPLE}` }, method: 'signup' })
  await sluice.flush()
  expect(lost).toEqual([])
  const people = await readPeople(service.sql, business.businessId)
  expect(people.map(({ identities }) => identities.length)).toEqual(Array.from({ length: PEOPLE }, () => 2))
})

it('the traits of the later call win, however late an identify arrives', async () => {
  way.fate = (request) => (request === 1 ? 'lost' : 'passes')
  const { sluice } = open()
  sluice.identify({ identity: { email: 'ann@x.io' }, traits: { plan: 'pro' } })
  sluice.track({ event: 'downgraded', identity: { email: 'ann@x.io' }, traits: { plan: 'free' } })
  await sluice.flush()
  const [person] = await readPeople(service.sql, business.businessId)
  expect(person?.traits['plan']?.[1]).toBe('"free"')
})

describe('trackBatch', () => {
  const pastEvents = (count: number): BatchEvent[] =>
    Array.from({ length: count }, (_, number) => ({
      event: 'purchase',
      identity: { platformCustomerId: 1 + (number % 50) },
      occurredAt: Date.UTC(2024, 0, 1) + number,
      value: 0.1,
      idempotencyKey: `row-${number}`,
    }))

  it('records each event once, whatever is lost on the way, and finds them all known in a second run', async () => {
    way.fate = hurt
    const { sluice } = open()
    const events = pastEvents(2300)
    const first = await sluice.trackBatch(events, { chunkSize: 150 })
    expect(first).toMatchObject({ ok: true, settled: 2300, failed: 0, queued: 0 })
    expect(first.recorded + first.deduped).toBe(2300)
    const again = await sluice.trackBatch(events)
    expect(again).toMatchObject({ ok: true, recorded: 0, deduped: 2300 })
    const people = await readPeople(service.sql, business.businessId)
    expect(people.map(({ orders, revenue }) => [orders, revenue])).toEqual(
      Array.from({ length: 50 }, () => [46, { USD: '4.6' }]),
    )
  })

  it('numbers failures and warnings as the caller does', async () => {
    const { sluice } = open()
    const events = pastEvents(1100)
    const broken = events
      .with(3, { ...events[3]!, identity: {} })
      .with(600, { ...events[600]!, occurredAt: '3000-01-01' })
      .with(1050, { ...events[1050]!, traits: { 'Not Snake': 1 } })
    const result = await sluice.trackBatch(broken, { chunkSize: 250 })
    expect(result).toMatchObject({ ok: false, settled: 1100, recorded: 1098, failed: 2 })
    expect(result.failures.map(({ index }) => index)).toEqual([3, 600])
    expect(result.failures[0]?.error).toContain('identity')
    expect(result.warnings).toEqual([expect.stringMatching(/^item 1050: .*Not Snake/) as string])
  })
})
