/** Spend over HTTP: with a key, and as a file with a session. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_DELETED, MAX_SPEND_ROWS } from '../../src/analytics/spend.ts'
import { AttributionData } from '../../src/front-door/routes/analytics/attribution.ts'
import { DeletedData, SavedData, SpendData } from '../../src/front-door/routes/spend/schemas.ts'
import { type SessionClient, addUser, signIn } from '../dashboard/session-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({}, { ownClickHouse: true }))
let speak: Speak
let tenant: TestBusiness
let marketer: SessionClient
beforeAll(async () => {
  speak = speakTo(service.url)
})
let users = 0
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { currency: 'EUR', timezone: 'America/New_York' })
  users += 1
  const email = `marketer${users}@x.io`
  await addUser(service.sql, 'owner@x.io', { businessId: tenant.businessId, role: 'owner' })
  await addUser(service.sql, email, { businessId: tenant.businessId, role: 'marketer' })
  marketer = await signIn(service, email)
})

const PATH = '/api/analytics/spend'
const ask = (method: string, path = '', json?: unknown) =>
  speak(method, `${PATH}${path}`, { key: tenant.secretKey, ...(json !== undefined && { json }) })
const ROW = { day: '2026-02-28', channel: 'paid_search', source: 'google', campaign: 'spring', amount: 1 }
const save = async (...spend: unknown[]) => dataOf(SavedData, await ask('POST', '', { spend }))
const list = async (query = '') => {
  const data = dataOf(SpendData, await ask('GET', query))
  return {
    rows: data['spend'] as (typeof ROW & { currency: string })[],
    nextCursor: data['nextCursor'] as string | null,
  }
}
const code = ({ status, body }: Answer) => [status, body.error?.code]
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)
const countOf = async () =>
  (await service.sql`select many from ad_spend_counts where business_id = ${tenant.businessId}`)[0]?.['many'] as number
const setCount = (many: number) => service.sql`
  insert into ad_spend_counts (business_id, many) values (${tenant.businessId}, ${many})
  on conflict (business_id) do update set many = ${many}`
const auditOf = async () =>
  (
    await service.sql<{ action: string; actor_kind: string; details: object; times: number }[]>`
      select action, actor_kind, details, times from audit_log
      where business_id = ${tenant.businessId} and action like 'spend.%' order by id`
  ).map(({ action, actor_kind: kind, details, times }) => [action, kind, details, times])

describe('rows', () => {
  it('are saved once however often they are sent; another amount replaces the one before', async () => {
    const rows = [ROW, { ...ROW, currency: 'usd', amount: '0.1000' }, { ...ROW, source: null, campaign: undefined }]
    expect(await save(...rows)).toEqual({ received: 3, added: 3, changed: 0 })
    expect(await save(...rows)).toEqual({ received: 3, added: 0, changed: 0 })
    expect(await save({ ...ROW, amount: 2 }, { ...ROW, day: '2026-03-01' })).toEqual({
      received: 2,
      added: 1,
      changed: 1,
    })
    expect((await list()).rows).toEqual([
      { ...ROW, day: '2026-03-01', currency: 'EUR', amount: '1' },
      { ...ROW, currency: 'USD', amount: '0.1' },
      { ...ROW, currency: 'EUR', amount: '2' },
      { ...ROW, source: '', campaign: '', currency: 'EUR', amount: '1' },
    ])
    expect(await countOf()).toBe(4)
    expect(await auditOf()).toEqual([['spend.import', 'key', { added: 1, changed: 1 }, 2]])
  })

  it('have exact amounts', async () => {
    const most = '1000000000000'
    await save(
      { ...ROW, amount: 0.07 },
      { ...ROW, source: 'b', amount: most },
      { ...ROW, source: 'c', amount: '0.0001' },
    )
    expect((await list()).rows.map(({ source, amount }) => [source, amount])).toEqual([
      ['google', '0.07'],
      ['c', '0.0001'],
      ['b', most],
    ])
  })

  it.each([
    ['day', '2026-02-29'],
    ['day', undefined],
    ['day', 20_260_228],
    ['channel', 'unknown'],
    ['channel', 'Email'],
    ['channel', undefined],
    ['source', 's'.repeat(257)],
    ['source', 5],
    ['source', 'a\u0000b'],
    ['campaign', 'c'.repeat(513)],
    ['currency', 'c'.repeat(9)],
    ['amount', -1],
    ['amount', '1,5'],
    ['amount', 1.00001],
    ['amount', '1000000000000.0001'],
    ['amount', '1e3'],
    ['amount', undefined],
  ])('with the %s %j are refused, and nothing is saved', async (field, value) => {
    const answer = await ask('POST', '', {
      spend: [
        { ...ROW, day: '2026-01-01' },
        { ...ROW, [field]: value },
      ],
    })
    expect([code(answer), pathsOf(answer)]).toEqual([[400, 'invalid_request'], [`spend.1.${field}`]])
    expect((await list()).rows).toEqual([])
  })

  it('with one key in one request are refused', async () => {
    const answer = await ask('POST', '', { spend: [ROW, { ...ROW, currency: 'EUR', amount: 2 }] })
    expect([code(answer), pathsOf(answer)]).toEqual([[400, 'invalid_request'], ['spend.1']])
    expect(answer.body.message).toBe('spend.1 has the day, channel, source, campaign and currency of spend.0')
  })

  it('are 1 to 1,000 in a request', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...ROW, source: `s${n}` }))
    expect(await save(...many(1000))).toMatchObject({ added: 1000 })
    expect(pathsOf(await ask('POST', '', { spend: many(1001) }))).toEqual(['spend'])
    expect(pathsOf(await ask('POST', '', { spend: [] }))).toEqual(['spend'])
    expect(pathsOf(await ask('POST', '', {}))).toEqual(['spend'])
    expect(pathsOf(await ask('POST', '', { spend: ['x'] }))).toEqual(['spend.0'])
  })

  it('are limited for a business: the last one fits, one past it does not', async () => {
    await setCount(MAX_SPEND_ROWS - 1)
    expect(code(await ask('POST', '', { spend: [ROW, { ...ROW, source: 'b' }] }))).toEqual([409, 'limit_reached'])
    expect((await list()).rows).toEqual([])
    expect(await save(ROW)).toMatchObject({ added: 1 })
    expect(code(await ask('POST', '', { spend: [{ ...ROW, source: 'b' }] }))).toEqual([409, 'limit_reached'])
    // The amount of an existing row can still change.
    expect(await save({ ...ROW, amount: 5 })).toMatchObject({ added: 0, changed: 1 })
    expect(await countOf()).toBe(MAX_SPEND_ROWS)
  })
})

describe('a range of days', () => {
  const DAYS = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01']
  beforeEach(() => save(...DAYS.map((day) => ({ ...ROW, day }))))

  it('is listed, page by page', async () => {
    const days = async (query: string) => (await list(query)).rows.map(({ day }) => day)
    expect(await days('?from=2026-02-01&to=2026-03-01')).toEqual(['2026-02-28', '2026-02-01'])
    expect(await days('?from=2026-02-01')).toEqual(DAYS.slice(1).toReversed())
    expect(await days('?to=2026-02-01')).toEqual(['2026-01-31'])
    await save({ ...ROW, source: "it's", day: DAYS[0] }, { ...ROW, source: 'ü', day: DAYS[0] })
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(`?limit=1${cursor && `&cursor=${cursor}`}`)
      found.push(...page.rows.map(({ day, source }) => `${day} ${source}`))
      cursor = page.nextCursor
    }
    expect(found).toEqual((await list()).rows.map(({ day, source }) => `${day} ${source}`))
    expect(found.length).toBe(6)
  })

  it('is deleted', async () => {
    const gone = await ask('DELETE', '?from=2026-02-01&to=2026-03-01')
    expect(dataOf(DeletedData, gone)).toEqual({ deleted: 2, hasMore: false })
    expect((await list()).rows.map(({ day }) => day)).toEqual(['2026-03-01', '2026-01-31'])
    expect(dataOf(DeletedData, await ask('DELETE', '?from=2026-02-01&to=2026-03-01'))).toMatchObject({ deleted: 0 })
    expect(await countOf()).toBe(2)
    expect((await auditOf()).at(-1)).toEqual([
      'spend.delete',
      'key',
      { deleted: 2, from: '2026-02-01', to: '2026-03-01' },
      1,
    ])
  })

  it('is deleted up to a limit by one call, the oldest days first', async () => {
    await service.sql`
      insert into ad_spend (business_id, day, channel, source, campaign, currency, amount)
      select ${tenant.businessId}, '2025-01-01', 'email', 's' || n, '', 'EUR', 1 from generate_series(1, ${MAX_DELETED}::int) n`
    await setCount(MAX_DELETED + 4)
    const gone = () => ask('DELETE', '?from=2025-01-01&to=2300-01-01')
    expect(dataOf(DeletedData, await gone())).toEqual({ deleted: MAX_DELETED, hasMore: true })
    expect((await list()).rows.length).toBe(4)
    expect(dataOf(DeletedData, await gone())).toEqual({ deleted: 4, hasMore: false })
    expect(await countOf()).toBe(0)
  })

  it.each([
    ['GET', '?from=yesterday', ['from']],
    ['GET', '?to=2026-02-30', ['to']],
    ['GET', '?limit=501', ['limit']],
    ['GET', '?cursor=x', ['cursor']],
    ['GET', `?cursor=${Buffer.from('["2026-02-28","a","b","c"]').toString('base64url')}`, ['cursor']],
    [
      'GET',
      `?cursor=${Buffer.from(String.raw`["2026-02-28","a","b\u0000","c","d"]`).toString('base64url')}`,
      ['cursor'],
    ],
    ['DELETE', '', ['from', 'to']],
    ['DELETE', '?from=2026-02-01', ['to']],
    ['DELETE', '?from=2026-02-01&to=2026-02-01', ['from']],
    ['DELETE', '?from=2026-02-01T00:00:00Z&to=2026-02-02', ['from']],
  ])('is refused: %s %s', async (method, query, paths) => {
    const answer = await ask(method, query)
    expect([code(answer), pathsOf(answer)]).toEqual([[400, 'invalid_request'], paths])
  })
})

it('is for secret keys', async () => {
  expect((await speak('GET', PATH, { key: tenant.publishableKey })).status).toBe(403)
  expect((await speak('POST', PATH, { json: { spend: [ROW] } })).status).toBe(401)
})

it('stands beside the revenue, by currency', async () => {
  const key = tenant.secretKey
  const pay = { event: 'paid', identity: { email: 'ada@x.io' }, value: 30, occurredAt: '2026-02-28T12:00:00Z' }
  await speak('POST', '/api/sdk/track', { key, json: pay })
  const signup = { event: 'signup', identity: { email: 'ada@x.io' }, occurredAt: '2026-02-28T11:00:00Z' }
  await speak('POST', '/api/sdk/track', { key, json: signup })
  await service.shipped()
  await save({ ...ROW, amount: 12 }, { ...ROW, currency: 'USD', amount: 7 }, { ...ROW, day: '2026-03-01', amount: 100 })
  const read = async (query: string) => {
    const path = `/api/analytics/attribution?${query}&from=2026-02-01&to=2026-03-01`
    return dataOf(AttributionData, await speak('GET', path, { key })) as { event: string | null; rows: object[] }
  }
  const spent = {
    channel: 'paid_search',
    source: null,
    revenue: 0,
    orders: 0,
    conversions: 0,
    contacts: 0,
    returnOnSpend: 0,
  }
  const unknown = { channel: 'unknown', currency: 'EUR', revenue: 30, orders: 1, conversions: 1 }
  expect(await read('by=channel')).toMatchObject({
    event: null,
    rows: [
      { ...unknown, spend: 0, returnOnSpend: null },
      { ...spent, currency: 'EUR', spend: 12 },
      { ...spent, currency: 'USD', spend: 7 },
    ],
  })
  expect((await read('by=touch')).rows).toMatchObject([{ ...unknown, spend: null, returnOnSpend: null }])
  expect(await read('by=channel&event=signup&model=first')).toMatchObject({
    event: 'signup',
    rows: [
      { channel: 'unknown', currency: null, revenue: 0, orders: 0, conversions: 1, contacts: 1, spend: 0 },
      { ...spent, currency: 'EUR', spend: 12 },
      { ...spent, currency: 'USD', spend: 7 },
    ],
  })
  expect((await read(`by=channel&event=${encodeURIComponent(String.raw`it's \{from: Int64}`)}`)).rows.length).toBe(2)
  const tooLong = await speak('GET', `/api/analytics/attribution?event=${'e'.repeat(65)}`, { key })
  expect(pathsOf(tooLong)).toEqual(['event'])
})

describe('a file', () => {
  const send = (json: object) => marketer.send('POST', `/b/${tenant.businessId}/analytics/spend/file`, json)
  const NO_DATE = 'day must be a date such as 2026-02-28, of the years 1900 to 2299'
  const FILE = 'date,channel,source,cost\n2026-02-28,email,news,1.5\n2026-02-28,email,news,1\nx,email,news,1\n'

  it('is checked without being saved, then saved once', async () => {
    const checked = await send({ text: FILE, save: false })
    expect(checked.data).toEqual({
      columns: [
        { field: 'day', column: 'date' },
        { field: 'channel', column: 'channel' },
        { field: 'source', column: 'source' },
        { field: 'amount', column: 'cost' },
      ],
      read: 2,
      rows: 1,
      examples: [{ day: '2026-02-28', channel: 'email', source: 'news', campaign: '', currency: 'EUR', amount: '2.5' }],
      refused: [{ line: 4, error: NO_DATE, issues: [{ path: 'day', message: NO_DATE, code: 'date' }] }],
      refusedCount: 1,
      saved: null,
    })
    expect((await list()).rows).toEqual([])
    expect((await send({ text: FILE, save: true })).data).toMatchObject({ saved: { added: 1, changed: 0 } })
    expect((await send({ text: FILE, save: true })).data).toMatchObject({ saved: { added: 0, changed: 0 } })
    expect((await list()).rows).toMatchObject([{ source: 'news', amount: '2.5' }])
    expect(await auditOf()).toEqual([['spend.import', 'user', { added: 1, changed: 0 }, 1]])
  })

  it('has no row that is left: nothing is saved', async () => {
    expect((await send({ text: 'day,channel,amount\n', save: true })).data).toMatchObject({ read: 0, saved: null })
  })

  it('is refused with what is wrong', async () => {
    expect(await send({ text: 'clicks\n1', save: true })).toMatchObject({
      code: 'invalid_request',
      issues: [{ path: 'text', message: expect.stringContaining('day (day, date)') as string, code: 'file_without' }],
    })
    expect(await send({ text: `${FILE}\u0000`, save: true })).toMatchObject({ code: 'invalid_request' })
    expect(await send({ text: FILE, save: true, channel: 'tv' })).toMatchObject({ code: 'invalid_request' })
    await setCount(MAX_SPEND_ROWS)
    expect(await send({ text: FILE, save: true })).toMatchObject({ code: 'limit_reached' })
  })
})
