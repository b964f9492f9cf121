/**
 * The touches to which a purchase is attributed: from the data that browsers and callers send, through Postgres, to the
 * views.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_ATTRIBUTION_ROWS, readAttribution } from '../../src/analytics/attribution.ts'
import { openReader } from '../../src/analytics/read-rows.ts'
import type { Identity, Touch } from '../../src/rules/events/facts.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { insertStates } from '../../src/stores/insert-states.ts'
import {
  batch,
  browser,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  type Pipeline,
  track,
} from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { eraseAll, openLab, query, save, shipAll } from './lab.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const T0 = Date.parse('2026-03-01T00:00:00Z')
const [V, W] = ['a'.repeat(32), 'b'.repeat(32)]
const ANN = { email: 'ann@x.io' }
const BOB = { email: 'bob@x.io' }
const lab = useOpened(openLab)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(lab.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(lab.sql))
})

/** `on` is in days after the beginning of March 2026. */
const touchOn = (on: number, source: string): Touch => ({
  at: T0 + on * DAY,
  url: 'https://shop.example/sale',
  utm: { source, medium: 'email', campaign: `${source} one` },
})
const came = async (on: number, source: string, visitorId = V) =>
  await pipeline.browser(
    browser(
      businessId,
      browserFact('came', visitorId, { occurredAt: T0 + on * DAY, latest: touchOn(on, source) }),
      T0 + on * DAY,
    ),
  )
const isKnown = async (identity: Identity, on: number, visitorId = V) =>
  await pipeline.identify({ ...identify(businessId, identifyFact(identity, { visitorId })), receivedAt: T0 + on * DAY })
const factOn = (on: number, value: number, identity: Identity, input: Parameters<typeof eventFact>[2] = {}) =>
  eventFact('paid', identity, { occurredAt: T0 + on * DAY, value, ...input })
const paid = async (on: number, value: number, identity: Identity = ANN, input = {}) =>
  await pipeline.track(track(businessId, factOn(on, value, identity, input)))

interface Credit {
  amount: number
  first_source: string
  last_source: string
}
async function credits(): Promise<[amount: number, first: string, last: string][]> {
  await shipAll(lab)
  const rows = await query<Credit>(
    lab,
    `select amount, if(first_channel = 'unknown', '?', first_source) as first_source,
      if(last_channel = 'unknown', '?', last_source) as last_source
      from attributed_purchases where business_id = {business: UUID} order by occurred_ms, amount`,
    { business: businessId },
  )
  return rows.map(({ amount, first_source, last_source }) => [amount, first_source, last_source])
}

describe('a purchase', () => {
  it('is attributed to the first and to the last touch at or before it, in whatever order they arrive', async () => {
    await isKnown(ANN, 0)
    await paid(5, 50)
    await came(9, 'late')
    await paid(3, 30)
    await came(3, 'mid')
    await paid(2, 20)
    await came(1, 'early')
    await paid(0, 10)
    expect(await credits()).toEqual([
      [10, '?', '?'],
      [20, 'early', 'early'],
      [30, 'early', 'mid'],
      [50, 'early', 'mid'],
    ])
  })

  it('is shipped with all that is known of its touches, exactly', async () => {
    await came(1, 'news')
    const { contactId } = await isKnown(ANN, 2)
    await paid(3, 0.1, ANN, { sentCurrency: 'EUR' })
    await shipAll(lab)
    const rows = await query(lab, 'select * from attributed_purchases where business_id = {business: UUID}', {
      business: businessId,
    })
    const touch = {
      at: '2026-03-02 00:00:00.000',
      channel: 'email',
      source: 'news',
      medium: 'email',
      campaign: 'news one',
      referrer: '',
      landing_url: 'https://shop.example/sale',
      click_id: '',
    }
    const prefixed = (which: string) =>
      Object.fromEntries(Object.entries(touch).map(([name, said]) => [`${which}_${name}`, said]))
    expect(rows).toEqual([
      {
        business_id: businessId,
        contact_id: contactId,
        event_id: expect.any(String) as string,
        event: 'paid',
        occurred_at: '2026-03-04 00:00:00.000',
        type: 'purchase',
        currency: 'EUR',
        amount: 0.1,
        is_order: 1,
        ...prefixed('first'),
        ...prefixed('last'),
        occurred_ms: T0 + 3 * DAY,
      },
    ])
  })

  it('counts the touches of every browser of the person, and of no other time', async () => {
    await came(1, 'phone', V)
    await came(2, 'laptop', W)
    await isKnown(ANN, 3, V)
    await isKnown(ANN, 3, W)
    await isKnown(BOB, 4, W)
    await came(5, 'of bob', W)
    await paid(6, 1, ANN)
    await paid(6, 2, BOB)
    expect(await credits()).toEqual([
      [1, 'phone', 'laptop'],
      [2, 'of bob', 'of bob'],
    ])
  })

  it('follows its person through a merge', async () => {
    await came(1, 'of phone', V)
    await isKnown({ phone: '972541234567' }, 2, V)
    await paid(3, 3, { phone: '972541234567' })
    await came(0, 'of mail', W)
    await isKnown(ANN, 2, W)
    await paid(4, 4)
    expect(await credits()).toEqual([
      [3, 'of phone', 'of phone'],
      [4, 'of mail', 'of mail'],
    ])
    await pipeline.identify(identify(businessId, identifyFact({ ...ANN, phone: '972541234567' })))
    expect(await credits()).toEqual([
      [3, 'of mail', 'of phone'],
      [4, 'of mail', 'of phone'],
    ])
  })

  it('counts whatever endpoint it came through', async () => {
    await came(1, 'news')
    await isKnown(ANN, 2)
    await pipeline.batch(batch(businessId, [factOn(3, 3, ANN)]))
    await pipeline.browser(browser(businessId, browserFact('purchase', V, { occurredAt: T0 + 4 * DAY })))
    await paid(5, 5)
    await pipeline.track(
      track(
        businessId,
        factOn(6, 6, ANN, { meaning: { type: 'booking', counted: '0', currency: 'USD', order: false } }),
      ),
    )
    expect(await credits()).toEqual([
      [3, 'news', 'news'],
      [0, 'news', 'news'],
      [5, 'news', 'news'],
    ])
  })
})

describe('a refund', () => {
  it('is attributed like the latest purchase before it in its currency', async () => {
    await isKnown(ANN, 0)
    await came(1, 'first')
    await paid(2, 20)
    await came(3, 'second')
    await paid(4, 40, ANN, { sentCurrency: 'EUR' })
    await came(5, 'third')
    await paid(6, -5)
    await paid(7, -6, ANN, { sentCurrency: 'EUR' })
    expect(await credits()).toEqual([
      [20, 'first', 'first'],
      [40, 'first', 'second'],
      [-5, 'first', 'first'],
      [-6, 'first', 'second'],
    ])
  })

  it('without a purchase is attributed by its own time', async () => {
    await isKnown(ANN, 0)
    await came(1, 'news')
    await paid(2, -5)
    await came(3, 'later')
    await paid(4, 9)
    expect(await credits()).toEqual([
      [-5, 'news', 'news'],
      [9, 'news', 'later'],
    ])
  })
})

describe('an erasure', () => {
  const erase = async (contactId: string) => {
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: T0, contactId })
    await shipAll(lab)
    await eraseAll(lab)
  }
  const touchesOf = async () =>
    await query<{ visitor_id: string; source: string }>(
      lab,
      'select visitor_id, source from touches where business_id = {business: UUID} order by visitor_id, at_ms',
      { business: businessId },
    )
  const rowsLeft = async () =>
    await query<{ source: string[]; erased: number }>(
      lab,
      'select source, erased from visitor_touches where business_id = {business: UUID} and erased = 0',
      { business: businessId },
    )

  it('deletes the touches of the person, and a browser that still sends them brings nothing back', async () => {
    await came(1, 'secret')
    const { contactId } = await isKnown(ANN, 2)
    await paid(3, 3)
    await shipAll(lab)
    const [late] = await query(lab, 'select * from visitor_touches where business_id = {business: UUID}', {
      business: businessId,
    })
    await erase(contactId)
    expect(await rowsLeft()).toEqual([])
    await insertStates(lab.clickhouse, 'visitor_touches', [JSON.stringify(late)])
    await came(1, 'secret')
    await shipAll(lab)
    expect(await touchesOf()).toEqual([])
    expect(await credits()).toEqual([])
    const left = await lab.sql`select 1 from visitor_touches where business_id = ${businessId}`
    expect(left).toEqual([])
  })

  it('leaves the touches of another person in the same browser', async () => {
    await came(1, 'of ann')
    const { contactId } = await isKnown(ANN, 2)
    await isKnown(BOB, 3)
    await came(4, 'of bob')
    await paid(5, 5, BOB)
    await shipAll(lab)
    await erase(contactId)
    expect(await touchesOf()).toEqual([{ visitor_id: V, source: 'of bob' }])
    expect((await rowsLeft()).flatMap(({ source }) => source)).toEqual(['of bob'])
    expect(await credits()).toEqual([[5, 'of bob', 'of bob']])
    const [visitor] = await lab.sql`select first_touch, latest_touch from visitors where business_id = ${businessId}`
    expect(visitor).toEqual({ first_touch: touchOn(4, 'of bob'), latest_touch: touchOn(4, 'of bob') })
  })
})

describe('the report', () => {
  const ask = async (clickhouse: ClickHouseClient, model: 'first' | 'last', from = 0, to = 31) =>
    await readAttribution(openReader({ clickhouse, log: lab.log }), {
      businessId,
      model,
      by: 'touch',
      from: T0 + from * DAY,
      to: T0 + to * DAY,
    })
  const read = async (...asked: ['first' | 'last', from?: number, to?: number]) => await ask(lab.clickhouse, ...asked)

  it('adds up by channel, source, medium, campaign and currency, the most revenue first', async () => {
    await isKnown(ANN, 0)
    await came(1, 'a')
    await paid(2, 0.1)
    await paid(2, 0.2)
    await came(3, 'b')
    await paid(4, 10)
    await paid(5, -4)
    await paid(6, 7, ANN, { sentCurrency: 'EUR' })
    await paid(7, 1, BOB)
    await shipAll(lab)
    const rowOf = (source: string, more: object) => ({
      channel: 'email',
      source,
      medium: 'email',
      campaign: `${source} one`,
      landingPage: null,
      currency: 'USD',
      refunds: 0,
      contacts: 1,
      conversions: 1,
      ...more,
    })
    const unknown = {
      channel: 'unknown',
      source: '',
      medium: '',
      campaign: '',
      landingPage: null,
      currency: 'USD',
      revenue: 1,
      refunds: 0,
      orders: 1,
      contacts: 1,
      conversions: 1,
    }
    expect(await read('last')).toEqual({
      rows: [
        rowOf('b', { currency: 'EUR', revenue: 7, orders: 1 }),
        rowOf('b', { revenue: 6, refunds: 4, orders: 1 }),
        unknown,
        rowOf('a', { revenue: 0.3, orders: 2, conversions: 2 }),
      ],
      truncated: false,
    })
    expect(await read('first')).toEqual({
      rows: [
        rowOf('a', { currency: 'EUR', revenue: 7, orders: 1 }),
        rowOf('a', { revenue: 6.3, refunds: 4, orders: 3, conversions: 3 }),
        unknown,
      ],
      truncated: false,
    })
    // `from` is included, and `to` is not.
    expect((await read('last', 4, 5)).rows).toEqual([rowOf('b', { revenue: 10, orders: 1 })])
    expect((await read('last', 5, 6)).rows).toEqual([
      rowOf('b', { revenue: -4, refunds: 4, orders: 0, conversions: 0, contacts: 0 }),
    ])
    const days = await query(
      lab,
      `select model, channel, source, currency, revenue, refunded, orders, buyers from attribution_by_day
        where business_id = {business: UUID} and day = '2026-03-05' order by model`,
      { business: businessId },
    )
    expect(days).toEqual([
      {
        model: 'first',
        channel: 'email',
        source: 'a',
        currency: 'USD',
        revenue: 10,
        refunded: 0,
        orders: 1,
        buyers: 1,
      },
      { model: 'last', channel: 'email', source: 'b', currency: 'USD', revenue: 10, refunded: 0, orders: 1, buyers: 1 },
    ])
  })

  it('counts the touches of contacts that were merged with the buyer, and none of other people with the same browser', async () => {
    await came(1.5, 'of phone', V)
    await isKnown({ phone: '972541234567' }, 2, V)
    await came(1, 'of mail', W)
    await isKnown(ANN, 2, W)
    await isKnown(BOB, 3, W)
    await came(4, 'of bob', W)
    await paid(5, 5)
    await paid(6, -1)
    await paid(40, 7, BOB)
    const sources = async (model: 'first' | 'last') =>
      (await read(model)).rows.map(({ source, revenue }) => [source, revenue])
    await shipAll(lab)
    expect([await sources('first'), await sources('last')]).toEqual([[['of mail', 4]], [['of mail', 4]]])
    await pipeline.identify(identify(businessId, identifyFact({ ...ANN, phone: '972541234567' })))
    await came(3, 'of phone too', V)
    await shipAll(lab)
    expect([await sources('first'), await sources('last')]).toEqual([[['of mail', 4]], [['of phone too', 4]]])
    // Neither the purchase before the refund nor the browsers of its buyer are in this period.
    expect((await read('last', 6, 7)).rows).toMatchObject([{ source: 'of phone too', revenue: -1, refunds: 1 }])
    expect((await read('last', 40, 41)).rows).toMatchObject([{ source: 'of bob', revenue: 7 }])
  })

  it.each([
    ['memory', { max_memory_usage: '100000' }],
    ['time', { max_execution_time: 0.0001 }],
  ])('says at once, and asks no more, when it takes too much %s', async (_, less) => {
    await paid(1, 1)
    await shipAll(lab)
    let asked = 0
    const query = async (question: { query: string; format: 'JSONEachRow'; clickhouse_settings: object }) => {
      asked += 1
      expect(Object.keys(question.clickhouse_settings)).toEqual(expect.arrayContaining(Object.keys(less)))
      return await lab.clickhouse.query({
        ...question,
        clickhouse_settings: { ...question.clickhouse_settings, ...less },
      })
    }
    await expect(ask({ query } as unknown as ClickHouseClient, 'last')).rejects.toMatchObject({ reason: 'too_much' })
    expect(asked).toBe(1)
  })

  it('is an internal error when ClickHouse rejects the query', async () => {
    const query = async () => await lab.clickhouse.query({ query: 'select nothing', format: 'JSONEachRow' })
    await expect(ask({ query } as unknown as ClickHouseClient, 'last')).rejects.toMatchObject({
      type: 'UNKNOWN_IDENTIFIER',
    })
  })

  it('is unavailable while ClickHouse is away', async () => {
    const nowhere = connectClickHouse('http://u:p@127.0.0.1:1/db')
    const query = { businessId, model: 'last', by: 'touch', from: T0, to: T0 + DAY } as const
    const reader = openReader({ clickhouse: nowhere, log: lab.log }, { ms: 1000, bytes: 1024 ** 3 })
    await expect(readAttribution(reader, query)).rejects.toMatchObject({ reason: 'unavailable' })
    await nowhere.close()
  })

  it('returns 1,000 rows, and says that there are more', async () => {
    const contacts = Array.from({ length: MAX_ATTRIBUTION_ROWS + 1 }, () => crypto.randomUUID())
    const order = (contact_id: string, n: number) => ({
      contact_id,
      occurred_ms: T0,
      type: 'purchase' as const,
      currency: `C${n}`,
      counted: String(n + 1),
      is_order: 1 as const,
    })
    await save(lab, businessId, contacts.slice(0, MAX_ATTRIBUTION_ROWS).map(order))
    await shipAll(lab)
    expect(await read('last')).toMatchObject({ truncated: false, rows: { length: MAX_ATTRIBUTION_ROWS } })
    await save(lab, businessId, [order(contacts.at(-1) ?? '', MAX_ATTRIBUTION_ROWS)])
    await shipAll(lab)
    const more = await read('last')
    expect([more.truncated, more.rows.length, more.rows[0]?.revenue]).toEqual([true, MAX_ATTRIBUTION_ROWS, 1001])
  })
})
