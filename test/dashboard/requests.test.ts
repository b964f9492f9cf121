/** The latest requests of a business: what is kept of them, who sees them, and that they are erased with the person. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_BYTES, forgetRequests, readEntries, writeEntry } from '../../src/request-log/request-store.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

interface Shown {
  id: string
  at: string
  outcome: string
  event: string | null
  key: string | null
  contactId: string | null
  code: string
  requestId: string
}

interface Answered {
  contactId?: string
  failures?: { index: number; error: string }[]
}

let service: Service
let client: SessionClient
let business: TestBusiness
beforeAll(async () => {
  service = await openService()
  business = await createBusiness(service.sql)
  await addUser(service.sql, 'analyst@x.io', { businessId: business.businessId, role: 'owner' })
  client = await signIn(service, 'analyst@x.io')
})
afterAll(() => service.close())

const other = async () => {
  const one = await createBusiness(service.sql)
  await addUser(service.sql, 'analyst@x.io', { businessId: one.businessId, role: 'owner' })
  return one
}

async function send(
  path: string,
  body: unknown,
  { secretKey }: TestBusiness = business,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${service.url}/api${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, ...((await response.json()) as { data?: Answered }) }
}

async function list(query = '', { businessId }: TestBusiness = business) {
  const { data, status, code } = await client.send('GET', `/b/${businessId}/requests${query}`)
  const { requests, ...rest } = data as unknown as { requests: Shown[]; newest: number; oldest: number | null }
  return { requests, status, code, ...rest }
}

async function until<T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const value = await read()
    if (is(value)) return value
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const read = async (id: string, of: TestBusiness = business) => client.send('GET', `/b/${of.businessId}/requests/${id}`)

it('shows a request with its body, its answer and its warnings, and no address, name or key', async () => {
  const mine = await other()
  const sent = await send(
    '/sdk/track',
    {
      event: 'purchase',
      identity: { email: 'Ada.Private@example.com', phone: '+49 171 1234567', platformCustomerId: 'c-1' },
      profile: { firstName: 'Adaprivate', city: 'Berlin' },
      properties: { note: 'mail ada.private@example.com or +49 171 1234567', plan: 'pro', apiKey: mine.secretKey },
      value: 10,
      unknwon: 1,
    },
    mine,
    { 'X-Request-Id': 'ada.private@example.com' },
  )
  expect(sent.status).toBe(200)
  const { requests } = await until(
    () => list('', mine),
    (found) => found.requests.length === 1,
  )
  const [shown] = requests
  expect(shown).toMatchObject({
    event: 'purchase',
    contactId: sent.data?.contactId,
    key: mine.secretKey.slice(-4),
    requestId: '[redacted]',
  })
  const { data } = await read(shown?.id ?? '', mine)
  expect(data).toMatchObject({
    body: {
      identity: { email: '[redacted]', phone: '[redacted]', platformCustomerId: 'c-1' },
      profile: { firstName: '[redacted]', city: 'Berlin' },
      properties: { plan: 'pro', apiKey: '[redacted]' },
    },
    answer: { contactId: sent.data?.contactId, interpreted: { type: 'purchase', countedRevenue: 10 } },
  })
  const stored = await service.redis.zrangebyscore(`sluice:{${mine.businessId}}:requests`, '-inf', '+inf')
  expect(stored).toHaveLength(1)
  expect(stored.join('').toLowerCase()).not.toMatch(/private|1234567|sk_live/)
})

it('shows why a request was refused, and none of its values', async () => {
  const mine = await other()
  await send(
    '/sdk/track',
    { event: 'x', identity: { platformCustomerId: 'who-1' }, properties: { a: 'b' }, tags: 7 },
    mine,
  )
  await send('/sdk/track', '{"event":', mine)
  const { requests } = await until(
    () => list('?outcome=refused', mine),
    (found) => found.requests.length === 2,
  )
  expect(requests.map(({ code }) => code).toSorted()).toEqual(['invalid_request', 'malformed_json'])
  const { data } = await read(requests.find(({ code }) => code === 'invalid_request')?.id ?? '', mine)
  expect(data['body']).toEqual({
    event: 'x',
    identity: { platformCustomerId: '[text]' },
    properties: { a: '[text]' },
    tags: '[number]',
  })
  expect(data['issues']).toEqual([{ path: 'tags', message: expect.stringContaining('tags') as string }])
})

it('shows how many events a batch had, and the first ones without their people', async () => {
  const mine = await other()
  const events = Array.from({ length: 30 }, (_, n) => ({
    event: `e${n}`,
    identity: { platformCustomerId: `batchperson-${n}` },
    properties: { n: 'batchvalue' },
  }))
  await send('/sdk/track/batch', { events }, mine)
  const { requests } = await until(
    () => list('', mine),
    (found) => found.requests.length === 1,
  )
  const { data } = await read(requests[0]?.id ?? '', mine)
  expect(data['body']).toEqual({
    events: 30,
    first: ['e0', 'e1', 'e2', 'e3', 'e4'].map((event) => ({ event })),
  })
  const stored = await service.redis.zrangebyscore(`sluice:{${mine.businessId}}:requests`, '-inf', '+inf')
  expect(stored.join('')).not.toMatch(/batchperson|batchvalue/)
})

it.each([
  ['all', ['', '']],
  ['some', ['fine', '']],
])('warns of a batch of which %s items failed', async (_, names) => {
  const mine = await other()
  const events = names.map((event) => ({ event, identity: { platformCustomerId: '1' } }))
  const { data: answer } = await send('/sdk/track/batch', { events }, mine)
  const failures = answer?.failures ?? []
  expect(failures.map(({ index }) => index)).toEqual(names.flatMap((name, index) => (name === '' ? [index] : [])))
  const { requests } = await until(
    () => list('?outcome=warned', mine),
    (found) => found.requests.length === 1,
  )
  const { data } = await read(requests[0]?.id ?? '', mine)
  const issues = failures.map(({ index, error }) => ({ path: `events[${index}]`, message: error }))
  expect(data['issues']).toEqual(issues)
})

it('filters by event, key, outcome and contact, and shows what is new', async () => {
  const mine = await other()
  const first = await send('/sdk/track', { event: 'Signup', identity: { platformCustomerId: '1' } }, mine)
  await send('/sdk/track', { event: 'login', identity: { platformCustomerId: '2' } }, mine)
  await send('/sdk/track', { event: 'bad', identity: {} }, mine)
  const { newest } = await until(
    () => list('', mine),
    (found) => found.requests.length === 3,
  )
  const events = async (query: string) => (await list(query, mine)).requests.map(({ event }) => event)
  expect(await events('?event=SIGN')).toEqual(['Signup'])
  expect(await events(`?contactId=${first.data?.contactId}`)).toEqual(['Signup'])
  expect(await events('?outcome=refused')).toEqual(['bad'])
  expect(await events(`?key=${mine.secretKey.slice(-4)}`)).toHaveLength(3)
  expect(await events('?key=0000x')).toEqual([])
  expect(await events(`?after=${newest}`)).toEqual([])
  await send('/sdk/track', { event: 'later', identity: { platformCustomerId: '2' } }, mine)
  const { requests } = await until(
    () => list(`?after=${newest}`, mine),
    (found) => found.requests.length > 0,
  )
  expect(requests.map(({ event }) => event)).toEqual(['later'])
})

it.each(['?outcome=fine', '?contactId=7', '?after=x', '?before=1e3'])('refuses %s', async (query) => {
  expect(await list(query)).toMatchObject({ status: 400, code: 'invalid_request' })
})

it('knows no request of another business, and none that is gone', async () => {
  const mine = await other()
  await send('/sdk/track', { event: 'mine', identity: { platformCustomerId: '1' } }, mine)
  const { requests } = await until(
    () => list('', mine),
    (found) => found.requests.length === 1,
  )
  const id = requests[0]?.id ?? ''
  expect((await read(id, mine)).status).toBe(200)
  for (const wrong of ['0000000000000-0', 'x', `${id}9`]) expect((await read(wrong, mine)).status).toBe(404)
  expect((await read(id)).status).toBe(404)
})

it('goes with the person, also while more comes in', async () => {
  const mine = await other()
  const person = { event: 'seen', identity: { platformCustomerId: 'gone' } }
  const { data } = await send('/sdk/track', person, mine)
  const contactId = data?.contactId ?? ''
  await send('/sdk/track', { event: 'kept', identity: { platformCustomerId: 'stays' } }, mine)
  await until(
    () => list('', mine),
    (found) => found.requests.length === 2,
  )
  // Some of these are still in the memory of the front door when the person is erased.
  const more = Promise.all(Array.from({ length: 20 }, () => send('/sdk/track', person, mine)))
  const erased = await fetch(`${service.url}/api/contacts/${contactId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${mine.secretKey}` },
  })
  expect(erased.status).toBe(200)
  expect((await list('', mine)).requests.filter((one) => one.contactId === contactId)).toEqual([])
  await more
  await until(
    () => list('', mine),
    (found) => found.requests.some(({ event }) => event === null),
  )
  const stored = await service.redis.zrangebyscore(`sluice:{${mine.businessId}}:requests`, '-inf', '+inf')
  expect(stored.join('')).not.toContain(contactId)
  expect(stored.join('')).toContain('"kept"')
})

it('hides a person whose erasure Redis has not heard of', async () => {
  const mine = await other()
  const { data } = await send('/sdk/track', { event: 'seen', identity: { platformCustomerId: 'gone' } }, mine)
  const { requests } = await until(
    () => list('', mine),
    (found) => found.requests.length === 1,
  )
  const contactId = data?.contactId ?? ''
  await service.sql`
    insert into erasures (business_id, contact_id, erased_as) values (${mine.businessId}, ${contactId}, ${contactId})`
  expect((await list('', mine)).requests).toEqual([])
  expect((await read(requests[0]?.id ?? '', mine)).status).toBe(404)
})

const line = (contactId: string | null, text = '') => ({
  contactId,
  json: JSON.stringify({ index: 0, contactId, text }),
})

it('two erasures and writers at once leave nothing of either person', async () => {
  const { businessId } = await createBusiness(service.sql)
  const write = (ids: string[]) =>
    writeEntry(service.redis, businessId, { requests: ids.map((id) => line(id)), omitted: 0 })
  for (let entry = 0; entry < 300; entry += 1) await write(['aaaa', 'bbbb', 'cccc'])
  await Promise.all([
    forgetRequests(service.redis, businessId, ['aaaa']),
    forgetRequests(service.redis, businessId, ['bbbb']),
    ...Array.from({ length: 50 }, () => write(['aaaa', 'bbbb', 'cccc'])),
  ])
  const entries = await readEntries(service.redis, businessId, {}, 1000)
  expect(entries).toHaveLength(350)
  expect(entries.flatMap(({ requests }) => requests.map(({ contactId }) => contactId))).toEqual(Array(350).fill('cccc'))
})

it('keeps the newest requests of a business, up to its byte limit, for an hour', async () => {
  const { businessId } = await createBusiness(service.sql)
  const text = 'x'.repeat(60_000)
  for (let entry = 0; entry < 80; entry += 1) {
    await writeEntry(service.redis, businessId, { requests: [line(null, `${entry} ${text}`)], omitted: 0 })
  }
  const key = `sluice:{${businessId}}:requests`
  const stored = await service.redis.zrangebyscore(key, '-inf', '+inf')
  const bytes = stored.reduce((sum, one) => sum + one.length, 0)
  expect(bytes).toBeLessThan(MAX_BYTES * 1.01)
  expect(bytes).toBeGreaterThan(MAX_BYTES * 0.9)
  expect(stored.at(-1)).toContain('79 x')
  expect(await service.redis.ttl(key)).toBeGreaterThan(3500)
  expect(await service.redis.ttl(`${key}-bytes`)).toBeGreaterThan(3500)
  // An entry older than an hour is no longer shown, and the next entry deletes it.
  const old = Date.now() - 3_601_000
  await service.redis.zadd(key, old, `${old}{"omitted":0,"requests":[]}`)
  expect((await readEntries(service.redis, businessId, {}, 1000)).map(({ score }) => score)).not.toContain(old)
  await writeEntry(service.redis, businessId, { requests: [], omitted: 1 })
  expect(await service.redis.zcount(key, '-inf', old)).toBe(0)
})

it('keeps all refusals when many requests come at once, and says how many successes are left out', async () => {
  const mine = await other()
  const body = { event: 'many', identity: { platformCustomerId: '1' } }
  const sent = await Promise.all([
    ...Array.from({ length: 400 }, () => send('/sdk/track', body, mine)),
    ...Array.from({ length: 20 }, () => send('/sdk/track', { event: 'bad' }, mine)),
  ])
  expect(sent).toHaveLength(420)
  const stored = await until(
    () => readEntries(service.redis, mine.businessId, {}, 1000),
    (entries) => entries.reduce((sum, { requests, omitted }) => sum + requests.length + omitted, 0) === 420,
  )
  const requests = stored.flatMap((entry) => entry.requests)
  expect(requests.filter(({ outcome }) => outcome === 'refused')).toHaveLength(20)
})
