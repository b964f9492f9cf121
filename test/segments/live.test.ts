/** Members at the moment when the caller has its answer (segments, "Membership"), through the pipeline and Postgres. */
import { uuidv7 } from 'uuidv7'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  NOW,
  type Pipeline,
  type RequestContext,
  batch,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type TestSegment, changesOf, insertSegment, membersOf, sizeOf } from './segments-support.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const ANN = { email: 'ann@x.io' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const live = (event: string, input: Parameters<typeof eventFact>[2] = {}, receivedAt = NOW): RequestContext => ({
  ...track(businessId, eventFact(event, ANN, { occurredAt: receivedAt, ...input })),
  receivedAt,
})
const insert = (...args: Parameters<typeof insertSegment> extends [unknown, unknown, ...infer Rest] ? Rest : never) =>
  insertSegment(stack.sql, businessId, ...args)
const causes = async (segment: TestSegment) =>
  (await membersOf(stack.sql, businessId, segment)).map(({ cause }) => cause)
const history = async (segment: TestSegment) =>
  (await changesOf(stack.sql, businessId, segment)).map(({ entered, at, cause }) => [entered, at, cause])

describe('an answered event', () => {
  it('enters its contact at the receipt, once', async () => {
    const segment = await insert({ event: 'paid', metric: 'count', operator: 'greater_than_or_equal', value: 2 })
    await pipeline.apply(live('paid'))
    expect(await membersOf(stack.sql, businessId, segment)).toEqual([])
    const { contactId } = await pipeline.track(live('paid', {}, NOW + 7))
    await pipeline.apply(live('paid', {}, NOW + 9), live('paid', {}, NOW + 9))
    expect(await membersOf(stack.sql, businessId, segment)).toEqual([{ contactId, since: NOW + 7, cause: 'live' }])
    expect(await history(segment)).toEqual([[true, NOW + 7, 'live']])
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(1)
  })

  it('lets its contact leave', async () => {
    const segment = await insert({
      all: [
        { tag: 'vip', operator: 'has' },
        { event: 'left', metric: 'last', operator: 'not_exists' },
      ],
    })
    await pipeline.apply(live('joined', { tags: ['vip'] }))
    expect(await causes(segment)).toEqual(['live'])
    await pipeline.apply(live('left', {}, NOW + 5))
    expect(await causes(segment)).toEqual([])
    expect(await history(segment)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + 5, 'live'],
    ])
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(0)
  })

  it('leaves no trace of what it undoes within one micro-batch', async () => {
    const segment = await insert({ event: 'paid', metric: 'count', operator: 'equals', value: 1 })
    await pipeline.apply(live('paid'), live('paid'))
    expect(await history(segment)).toEqual([])
  })

  it.each<[string, Parameters<typeof insert>[0]]>([
    ['a trait', { customField: 'plan', operator: 'equals', value: 'pro' }],
    ['revenue', { attribute: 'revenue', operator: 'equals', value: '12.50' }],
    ['orders', { attribute: 'orderCount', operator: 'equals', value: 1 }],
    ['a stage', { attribute: 'stage', operator: 'at_least', value: 'Decision' }],
    ['a tag', { tag: 'new', operator: 'has' }],
    ['an email', { attribute: 'email', operator: 'ends_with', value: '@x.io' }],
  ])('is seen through %s, of a contact that is known and of one that is new', async (_, rule) => {
    const segment = await insert(rule)
    const brings = { traits: { plan: 'pro' }, value: 12.5, tags: ['new'] }
    await pipeline.apply(live('invoice_paid', brings))
    expect(await causes(segment)).toEqual(['live'])
    const known = { phone: '12025550123' }
    await pipeline.apply(track(businessId, eventFact('visit', known)))
    const later = eventFact('invoice_paid', { ...known, email: 'bob@x.io' }, brings)
    await pipeline.apply(track(businessId, later))
    expect(await causes(segment)).toEqual(['live', 'live'])
  })

  it('makes a new contact a member of what holds for who did nothing', async () => {
    const segment = await insert({ event: 'paid', metric: 'count', operator: 'not_exists' })
    const other = await insert({ not: { tag: 'vip', operator: 'has' } })
    await pipeline.apply(live('visit'))
    expect([await causes(segment), await causes(other)]).toEqual([['live'], ['live']])
    await pipeline.apply(live('paid', { tags: ['vip'] }))
    expect([await causes(segment), await causes(other)]).toEqual([[], []])
  })

  it('knows the type of a field that it creates itself', async () => {
    const segment = await insert({ customField: 'seats', operator: 'greater_than', value: 3 })
    await pipeline.apply(live('visit', { traits: { seats: 5 } }))
    expect(await causes(segment)).toEqual(['live'])
  })

  it('counts in a rule that is being built, which the history does not show', async () => {
    const segment = await insert({ tag: 'vip', operator: 'has' }, 'building')
    await pipeline.apply(live('joined', { tags: ['vip'] }))
    expect(await causes(segment)).toEqual(['live'])
    expect(await history(segment)).toEqual([])
  })
})

describe('other ways in', () => {
  it('a batch enters silently', async () => {
    const segment = await insert({ event: 'paid', metric: 'last', operator: 'exists' })
    await pipeline.apply(batch(businessId, [eventFact('paid', ANN)]))
    expect(await history(segment)).toEqual([[true, NOW, 'bulk']])
  })

  it('an identify fills a gap', async () => {
    const segment = await insert({ attribute: 'country', operator: 'in', value: ['DE', 'AT'] })
    await pipeline.apply(identify(businessId, identifyFact(ANN, { profile: { country: 'FR' } })))
    await pipeline.apply(identify(businessId, identifyFact(ANN, { profile: { country: 'DE' } })))
    expect(await causes(segment)).toEqual([])
    await pipeline.apply(identify(businessId, identifyFact({ email: 'bob@x.io' }, { profile: { country: 'AT' } })))
    expect(await causes(segment)).toEqual(['live'])
  })

  it('a choice of consent', async () => {
    const segment = await insert({ attribute: 'subscribed', channel: 'email', operator: 'is_true' })
    const { contactId } = await pipeline.track(live('visit'))
    const choose = (email: boolean): RequestContext => ({
      kind: 'subscribe',
      businessId,
      receivedAt: NOW,
      contactId,
      channels: { email },
      method: 'form',
    })
    await pipeline.apply(choose(true))
    expect(await causes(segment)).toEqual(['live'])
    await pipeline.apply(choose(false))
    expect(await causes(segment)).toEqual([])
  })

  it('an edit', async () => {
    const segment = await insert({
      any: [
        { tag: 'vip', operator: 'has' },
        { customField: 'plan', operator: 'equals', value: 'pro' },
        { attribute: 'city', operator: 'equals', value: 'Rome' },
      ],
    })
    const { contactId } = await pipeline.track(live('visit', { tags: ['vip'], traits: { plan: 'free' } }))
    const edit = async (fact: object) => {
      const none = { profile: {}, traits: {}, addTags: [], removeTags: [], warnings: [] }
      await pipeline.apply({ kind: 'edit', businessId, receivedAt: NOW, contactId, fact: { ...none, ...fact } })
      return await causes(segment)
    }
    expect(await edit({ removeTags: ['vip'] })).toEqual([])
    expect(await edit({ traits: { plan: 'pro' } })).toEqual(['live'])
    expect(await edit({ traits: { plan: null } })).toEqual([])
    expect(await edit({ profile: { city: 'Rome' } })).toEqual(['live'])
    expect(await edit({ profile: { city: null } })).toEqual([])
    expect(await edit({ addTags: ['vip'] })).toEqual(['live'])
  })

  it("a browser's history, once it is identified", async () => {
    const segment = await insert({ event: 'viewed', metric: 'count', operator: 'greater_than', value: 1 })
    const visitorId = 'v'.repeat(32)
    const viewed = { kind: 'browser', businessId, receivedAt: NOW, fact: browserFact('viewed', visitorId) } as const
    await pipeline.apply(viewed)
    await pipeline.apply(viewed)
    await pipeline.apply(identify(businessId, identifyFact(ANN, { visitorId })))
    expect(await causes(segment)).toHaveLength(1)
  })

  it('an erasure ends all, and keeps the history', async () => {
    const segment = await insert({ event: 'paid', metric: 'last', operator: 'exists' })
    const { contactId } = await pipeline.track(live('paid'))
    await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW + 3, contactId })
    expect(await membersOf(stack.sql, businessId, segment)).toEqual([])
    expect(await history(segment)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + 3, 'erasure'],
    ])
    expect(await sizeOf(stack.sql, businessId, segment)).toBe(0)
  })
})

describe('a merge', () => {
  it('is settled first, then what the call itself does', async () => {
    const buyers = await insert({ event: 'paid', metric: 'count', operator: 'equals', value: 2 })
    const often = await insert({ event: 'paid', metric: 'count', operator: 'greater_than', value: 2 })
    const once = await insert({ event: 'paid', metric: 'count', operator: 'equals', value: 1 })
    const [a] = await pipeline.apply(live('paid'))
    await pipeline.apply(track(businessId, eventFact('paid', { phone: '12025550123' })))
    await pipeline.apply(track(businessId, eventFact('paid', { ...ANN, phone: '12025550123' })))
    expect(a).toMatchObject({ isNew: true })
    expect(await causes(often)).toEqual(['live'])
    expect(await causes(buyers)).toEqual([])
    expect((await history(buyers)).map(([entered, , cause]) => [entered, cause])).toEqual([])
    expect(await causes(once)).toEqual([])
    expect((await changesOf(stack.sql, businessId, once)).map(({ entered, cause }) => [entered, cause])).toEqual([
      [true, 'live'],
      [true, 'live'],
      [false, 'merge'],
      [false, 'merge'],
    ])
    expect(await sizeOf(stack.sql, businessId, once)).toBe(0)
  })
})

describe('what was due by time before an event', () => {
  it('is settled first, at its instant', async () => {
    const segment = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    await pipeline.apply(live('visit'))
    await pipeline.apply(live('visit', {}, NOW + 2 * DAY))
    expect(await history(segment)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + DAY + 1, 'time'],
      [true, NOW + 2 * DAY, 'live'],
    ])
  })

  it('is silent when a batch alone has fixed the instant', async () => {
    const segment = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    await pipeline.apply(batch(businessId, [eventFact('visit', ANN)]))
    await pipeline.apply(live('visit', {}, NOW + 2 * DAY))
    expect(await history(segment)).toEqual([
      [true, NOW, 'bulk'],
      [false, NOW + DAY + 1, 'bulk'],
      [true, NOW + 2 * DAY, 'live'],
    ])
  })
})

it('a business without segments reads no facts', async () => {
  await pipeline.apply(live('paid', { tags: ['vip'] }))
  const [row] = await stack.sql`select version from contacts where business_id = ${businessId}`
  await pipeline.apply(live('paid', { tags: ['vip'] }))
  expect(await stack.sql`select version from contacts where business_id = ${businessId}`).toEqual([row])
})

it('two partitions that share people lose no membership', async () => {
  const segment = await insert({
    all: [
      { event: 'paid', metric: 'last', operator: 'exists' },
      { customField: 'plan', operator: 'equals', value: 'pro' },
    ],
  })
  const other = await openPipeline(stack.sql, `other-${uuidv7()}`)
  const people = Array.from({ length: 400 }, (_, n) => ({ email: `p${n}@x.io` }))
  await pipeline.apply(...people.map((who) => track(businessId, eventFact('visit', who))))
  await other.apply(...people.map((who) => track(businessId, eventFact('visit', who))))
  const chunks = Array.from({ length: 40 }, (_, n) => people.slice(n * 10, n * 10 + 10))
  const pay = async () => {
    for (const some of chunks) await pipeline.apply(...some.map((who) => track(businessId, eventFact('paid', who))))
  }
  const upgrade = async () => {
    for (const some of chunks)
      await other.apply(
        batch(
          businessId,
          some.map((who) => eventFact('seen', who, { traits: { plan: 'pro' } })),
        ),
      )
  }
  await Promise.all([pay(), upgrade()])
  expect(await membersOf(stack.sql, businessId, segment)).toHaveLength(400)
  expect(await sizeOf(stack.sql, businessId, segment)).toBe(400)
  expect(await history(segment)).toHaveLength(400)
})

it('an event that changes both a contact and what segments read writes the contact once', async () => {
  await insert({ event: 'paid', metric: 'count', operator: 'greater_than_or_equal', value: 2 })
  await insert({ customField: 'seats', operator: 'greater_than', value: 3 })
  await pipeline.apply(live('paid', { traits: { seats: 0, size: 1 } }), live('other'))
  const sql = connectPostgres(stack.databaseUrl, { max: 1 })
  const same = await openPipeline(sql)
  const counted = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql<[{ version: number; updates: number }]>`
      select version, pg_stat_get_tuples_updated('contacts'::regclass) as updates from contacts where business_id = ${businessId}`
    return row
  }
  // Nothing of it is in this pipeline's memory yet.
  await same.apply(live('other'))
  for (const [event, input] of [
    ['paid', {}],
    ['other', { traits: { seats: 1 } }],
    ['paid', { traits: { seats: 2 } }],
    ['paid', { traits: { size: 5 } }],
  ] as const) {
    const before = await counted()
    await same.apply(live(event, input))
    const { version, updates } = await counted()
    expect([version - before.version, updates - before.updates]).toEqual([1, 1])
  }
  await sql.end({ timeout: 1 })
})
