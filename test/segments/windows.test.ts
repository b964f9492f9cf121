/**
 * Counts and sums of the timeline in rules (segments, "Windowed counts and sums"): the members after the worker has
 * caught up.
 */
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PropertyCondition, Rule, WindowedCondition } from '../../src/rules/segments/rule.ts'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { createPostponed } from '../../src/segments/windows/postponed.ts'
import { settleWindows } from '../../src/segments/windows/settle-windows.ts'
import { settleDue } from '../../src/segments/settle-due.ts'
import {
  NOW,
  type RequestContext,
  batch,
  browserFact,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { type TestSegment, changesOf, insertSegment, membersOf, sizeOf } from './segments-support.ts'
import { type World, openWorld } from './windows-support.ts'

const DAY = 86_400_000
const ANN = { email: 'ann@x.io' }
let world: World
let businessId: string
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  world.clock = NOW
  ;({ businessId } = await createBusiness(world.stack.sql))
})

type Input = Parameters<typeof eventFact>[2]
const live = (event: string, receivedAt = NOW, input: Input = {}, who: object = ANN): RequestContext => ({
  ...track(businessId, eventFact(event, who, { occurredAt: receivedAt, ...input })),
  receivedAt,
})
const apply = (...calls: RequestContext[]) => world.pipeline.apply(...calls)
const insert = (...args: Parameters<typeof insertSegment> extends [unknown, unknown, ...infer Rest] ? Rest : never) =>
  insertSegment(world.stack.sql, businessId, ...args)
const members = async (segment: TestSegment) =>
  (await membersOf(world.stack.sql, businessId, segment)).map(({ since, cause }) => [since, cause])
const history = async (segment: TestSegment) =>
  (await changesOf(world.stack.sql, businessId, segment)).map(({ entered, at, cause }) => [entered, at, cause])
const count = (value: number, more: Partial<WindowedCondition> = {}): Rule => ({
  event: 'paid',
  metric: 'count',
  operator: 'greater_than_or_equal',
  value,
  ...more,
})
const windows = async () =>
  (
    await world.stack.sql<{ value: string; next_at: number | null }[]>`
      select trim_scale(value)::text as value, next_at from segment_windows where business_id = ${businessId} order by value`
  ).map(({ value, next_at }) => [value, next_at])
const refreshes = async () =>
  (await world.stack.sql`select from segment_window_refreshes where business_id = ${businessId}`).length

/** A campaign that starts with an entry. How many enrolments it has. */
const startedBy = async ({ segmentId }: TestSegment, goalEvent: string | null = null) => {
  const drafted = {
    name: 'Welcome',
    trigger: { segment: segmentId, on: 'enter' as const },
    canEnterAgain: true,
    goalEvent,
  }
  const campaignId = await draftCampaign(world.stack.sql, businessId, drafted)
  await publishDraft(world.stack.sql, businessId, campaignId)
  return async () =>
    (await world.stack.sql`select from enrolments where business_id = ${businessId} and campaign_id = ${campaignId}`)
      .length
}

describe('an event', () => {
  it('counts once the timeline has it, as of its receipt', async () => {
    const segment = await insert(count(2, { withinDays: 1 }))
    await apply(live('paid', NOW + 1))
    await world.settle(NOW + 100)
    expect(await refreshes()).toBe(1)
    await world.follow(NOW + 100)
    expect([await members(segment), await refreshes()]).toEqual([[], 0])
    await apply(live('paid', NOW + 200))
    await world.follow(NOW + 900)
    expect(await members(segment)).toEqual([[NOW + 200, 'live']])
    expect(await history(segment)).toEqual([[true, NOW + 200, 'live']])
    expect(await sizeOf(world.stack.sql, businessId, segment)).toBe(1)
    expect(await windows()).toEqual([['2', NOW + 1 + DAY + 1]])
  })

  it('with another name asks for no refresh', async () => {
    await insert(count(1, { withinDays: 1 }))
    await apply(live('visit'))
    expect(await refreshes()).toBe(0)
  })

  it('leaves the window by the millisecond, each at its instant, also when nothing ran meanwhile', async () => {
    const segment = await insert(count(2, { withinDays: 1 }))
    const one = await insert(count(1, { withinDays: 1 }))
    await apply(live('paid', NOW), live('paid', NOW + 5))
    await world.follow(NOW + 10)
    await world.settle(NOW + DAY)
    expect(await members(segment)).toHaveLength(1)
    await world.settle(NOW + DAY + 1)
    expect(await members(segment)).toEqual([])
    await world.settle(NOW + 9 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW + 5, 'live'],
      [false, NOW + DAY + 1, 'time'],
    ])
    expect((await history(one)).at(-1)).toEqual([false, NOW + 5 + DAY + 1, 'time'])
    expect(await windows()).toEqual([])
  })

  it('keeps the instants of all that left while nothing ran', async () => {
    const segment = await insert(count(2, { withinDays: 1, operator: 'equals' }))
    await apply(...[0, 1, 2, 3].map((n) => live('paid', NOW + n)))
    await world.follow(NOW + 10)
    await world.settle(NOW + 5 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW + 1 + DAY + 1, 'time'],
      [false, NOW + 2 + DAY + 1, 'time'],
    ])
  })

  it('ahead of its receipt counts at once', async () => {
    const segment = await insert(count(1, { withinDays: 1 }))
    await apply(live('paid', NOW, { occurredAt: NOW + 300_000 }))
    await world.follow(NOW + 1)
    expect(await members(segment)).toEqual([[NOW, 'live']])
    await world.settle(NOW + DAY + 300_000)
    expect(await members(segment)).toHaveLength(1)
    await world.settle(NOW + DAY + 300_001)
    expect(await members(segment)).toEqual([])
  })

  it('too old for the window changes nothing', async () => {
    const segment = await insert(count(1, { withinDays: 1 }))
    await apply(live('paid', NOW, { occurredAt: NOW - DAY - 1 }))
    await world.follow(NOW + 1)
    expect([await members(segment), await windows(), await refreshes()]).toEqual([[], [], 0])
    await apply(live('paid', NOW, { occurredAt: NOW - DAY }))
    await world.follow(NOW)
    expect(await members(segment)).toHaveLength(1)
    await world.settle(NOW + 1)
    expect(await members(segment)).toEqual([])
  })

  it('that arrives before another leaves keeps its contact in', async () => {
    const segment = await insert(count(1, { withinDays: 1 }))
    await apply(live('paid', NOW))
    await world.follow(NOW)
    await apply(live('paid', NOW + DAY))
    // The first event has left the window, and the timeline does not have the second one yet.
    await world.settle(NOW + DAY + 50)
    expect(await members(segment)).toHaveLength(1)
    await world.follow(NOW + DAY + 60)
    expect(await history(segment)).toEqual([[true, NOW, 'live']])
  })

  it('enters a new contact not even for a moment where it does not belong', async () => {
    const none = await insert({ event: 'paid', metric: 'count', withinDays: 30, operator: 'not_exists' })
    const few = await insert({ not: count(2, { withinDays: 30 }) })
    await apply(live('paid', NOW + 3))
    expect([await members(none), await members(few)]).toEqual([[], []])
    await world.follow(NOW + 10)
    expect([await history(none), await history(few)]).toEqual([[], [[true, NOW + 3, 'live']]])
    await apply(live('visit', NOW + 5, {}, { email: 'bob@x.io' }))
    expect(await members(none)).toEqual([[NOW + 5, 'live']])
  })
})

describe('a new contact that an event with a window created', () => {
  const visited: Rule = { event: 'visit', metric: 'count', operator: 'greater_than_or_equal', value: 1 }
  it('does not enter by its next event, which does not know the window yet', async () => {
    const segment = await insert({ all: [{ not: count(1, { withinDays: 1 }) }, visited] })
    const started = await startedBy(segment)
    await apply(live('paid', NOW))
    await apply(live('visit', NOW + 5))
    expect([await history(segment), await started()]).toEqual([[], 0])
    await world.follow(NOW + 10)
    expect([await history(segment), await started()]).toEqual([[], 0])
  })

  it('enters once by several events before the timeline has the first', async () => {
    const segment = await insert({ any: [count(1, { withinDays: 1 }), visited] })
    const started = await startedBy(segment)
    const other = await openPipeline(world.stack.sql, `other-${uuidv7()}`)
    await apply(live('seen', NOW, {}, { email: 'bob@x.io' }))
    await apply(live('paid', NOW))
    await other.apply(live('visit', NOW + 5))
    await apply(live('visit', NOW + 6))
    await world.follow(NOW + 10)
    await apply(live('visit', NOW + 20))
    expect([await history(segment), await started()]).toEqual([[[true, NOW, 'live']], 1])
  })

  it('is decided by the events that follow in every worker', async () => {
    const segment = await insert({ all: [count(1, { withinDays: 1 }), visited] })
    const other = await openPipeline(world.stack.sql, `other-${uuidv7()}`)
    await apply(live('paid', NOW))
    await other.apply(live('seen', NOW + 1))
    await world.follow(NOW + 10)
    await other.apply(live('visit', NOW + 20))
    expect(await history(segment)).toEqual([[true, NOW + 20, 'live']])
  })

  it('enters once when the worker stops right after the save', async () => {
    const segment = await insert(count(1, { withinDays: 1 }))
    const started = await startedBy(segment)
    await apply(live('paid', NOW))
    await world.ship()
    world.clock = NOW + 10
    const stopping = new Proxy(world.stack.sql, {
      apply(sql, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
        const isAfterSave = /remove_window_refreshes|delete from segment_windows/.test(strings.join(''))
        if (isAfterSave) throw new Error('stopped')
        return Reflect.apply(sql, self, [strings, ...values]) as unknown
      },
    })
    const { signal } = new AbortController()
    await settleWindows({ ...world.deps, sql: stopping }, createPostponed(), signal)
    expect(await members(segment)).toHaveLength(1)
    await world.follow(NOW + 10)
    expect([await history(segment), await started()]).toEqual([[[true, NOW, 'live']], 1])
  })
})

describe('every form', () => {
  const properties = (value: unknown): Input => ({ properties: JSON.stringify(value) })
  const where = (...conditions: PropertyCondition[]): Partial<WindowedCondition> => ({ where: conditions })
  it.each<[string, Partial<WindowedCondition>, boolean]>([
    ['a text', where({ property: 'item.category', operator: 'equals', value: 'shoes' }), true],
    [
      'a text without case',
      where({ property: 'item.category', operator: 'equals', value: 'SHOES', ignoreCase: true }),
      true,
    ],
    ['another text', where({ property: 'item.category', operator: 'not_equals', value: 'shoes' }), false],
    ['a number', where({ property: 'item.price', operator: 'between', value: [9, 10] }), true],
    ['a number that is a text', where({ property: 'item.category', operator: 'greater_than', value: 0 }), false],
    ['an index', where({ property: 'lines.1.sku', operator: 'equals', value: 'b' }), true],
    ['a dot in a name', where({ property: String.raw`a\.b`, operator: 'is_true' }), true],
    ['a property that is not there', where({ property: 'other', operator: 'not_exists' }), true],
    ['null', where({ property: 'nothing', operator: 'exists' }), false],
    ['the value', where({ property: 'value', operator: 'equals', value: 12.5 }), true],
    ['the currency', where({ property: 'currency', operator: 'in', value: ['USD', 'EUR'] }), true],
    ['the type', where({ property: 'type', operator: 'equals', value: 'purchase' }), true],
    [
      'two that do not both hold',
      where({ property: 'type', operator: 'exists' }, { property: 'item.price', operator: 'less_than', value: 9 }),
      false,
    ],
    ['a sum', { metric: 'sum', property: 'item.price', operator: 'equals', value: '9.9' }, true],
    ['a sum of money', { metric: 'sum', property: 'value', operator: 'equals', value: '12.5' }, true],
    [
      'a sum of money in another currency',
      { metric: 'sum', property: 'value', currency: 'eur', operator: 'not_exists' },
      true,
    ],
    ['a sum of a text', { metric: 'sum', property: 'item.category', operator: 'exists' }, false],
  ])('%s', async (_, more, is) => {
    const segment = await insert(count(1, more))
    const sent = {
      item: { category: 'shoes', price: 9.9 },
      lines: [{ sku: 'a' }, { sku: 'b' }],
      'a.b': true,
      nothing: null,
      value: 7,
      huge: 1e20,
    }
    await apply(live('paid', NOW, { ...properties(sent), value: 12.5 }))
    await world.follow()
    expect(await members(segment)).toHaveLength(is ? 1 : 0)
  })

  it('adds decimals exactly', async () => {
    const segment = await insert({ event: 'paid', metric: 'sum', property: 'n', operator: 'equals', value: '1' })
    await apply(...Array.from({ length: 10 }, (_, n) => live('paid', NOW + n, properties({ n: 0.1 }))))
    await world.follow(NOW + 100)
    expect(await members(segment)).toEqual([[NOW + 9, 'live']])
    expect(await windows()).toEqual([['1', null]])
  })
})

describe('a batch', () => {
  it('enters silently, dated by when it was settled; what it makes due is silent, too', async () => {
    const segment = await insert(count(2, { withinDays: 1 }))
    await apply(batch(businessId, [eventFact('paid', ANN), eventFact('paid', ANN)]))
    await world.follow(NOW + 400)
    expect(await members(segment)).toEqual([[NOW + 400, 'bulk']])
    await world.settle(NOW + 2 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW + 400, 'bulk'],
      [false, NOW + DAY + 1, 'bulk'],
    ])
  })

  it('beside live events leaves them their causes', async () => {
    const segment = await insert(count(2, { withinDays: 1 }))
    await apply(batch(businessId, [eventFact('paid', ANN, { occurredAt: NOW - 1000 })]))
    await apply(live('paid', NOW + 7))
    await world.follow(NOW + 400)
    await world.settle(NOW + 2 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW + 7, 'live'],
      [false, NOW - 1000 + DAY + 1, 'bulk'],
    ])
  })
})

describe('other facts', () => {
  it('are settled at once, with the last answer of the windows', async () => {
    const segment = await insert({ all: [count(1, { withinDays: 1 }), { tag: 'vip', operator: 'has' }] })
    await apply(live('paid', NOW))
    await world.follow(NOW + 10)
    await apply(live('visit', NOW + 20, { tags: ['vip'] }))
    expect(await members(segment)).toEqual([[NOW + 20, 'live']])
  })

  it('that change before a window has followed come first', async () => {
    const segment = await insert({
      any: [count(1, { withinDays: 1 }), { customField: 'plan', operator: 'equals', value: 'pro' }],
    })
    await apply(live('visit', NOW, { traits: { plan: 'pro' } }))
    await apply(live('paid', NOW + 10))
    await apply(live('visit', NOW + 20, { occurredAt: NOW + 20, traits: { plan: 'free' } }))
    expect(await history(segment)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + 20, 'live'],
    ])
    await world.follow(NOW + 30)
    expect((await history(segment)).at(-1)).toEqual([true, NOW + 20, 'live'])
  })

  it('that time changes at the same instant are settled together with the window', async () => {
    const both: Rule = {
      all: [count(1, { withinDays: 1 }), { event: 'paid', metric: 'last', operator: 'within_days', value: 1 }],
    }
    const none: Rule = {
      all: [
        { not: count(1, { withinDays: 1 }) },
        { event: 'paid', metric: 'last', operator: 'older_than_days', value: 1 },
      ],
    }
    const either = await insert({ any: [both, none] })
    await apply(live('paid', NOW))
    await world.follow(NOW + 1)
    await world.settle(NOW + 2 * DAY)
    expect(await history(either)).toEqual([[true, NOW, 'live']])
  })

  it('that time changes are settled in the order of all instants', async () => {
    const segment = await insert({
      all: [{ event: 'visit', metric: 'last', operator: 'older_than_days', value: 2 }, count(1, { withinDays: 1 })],
    })
    await apply(live('visit', NOW), live('paid', NOW))
    await world.follow(NOW + 1)
    await world.settle(NOW + 9 * DAY)
    expect(await history(segment)).toEqual([])
  })

  it('do not wait for windows that are late', async () => {
    const segment = await insert({
      any: [{ event: 'visit', metric: 'last', operator: 'older_than_days', value: 2 }, count(9, { withinDays: 1 })],
    })
    await apply(live('visit', NOW), live('paid', NOW))
    await world.follow(NOW + 1)
    world.clock = NOW + 3 * DAY
    expect(await settleDue(world.deps, true)).toBe(world.clock + 100)
    expect(await members(segment)).toEqual([])
    expect(await settleDue(world.deps)).toBe('more')
    expect(await members(segment)).toEqual([[NOW + 2 * DAY + 1, 'time']])
  })

  it('that time changed before take no instant from a window that follows later', async () => {
    const visited = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 1 })
    const counted = await insert(count(2, { withinDays: 2, operator: 'equals' }))
    await apply(live('visit'), live('paid', NOW + 1), live('paid', NOW + 5), live('paid', NOW + 9))
    await world.follow(NOW + 10)
    // ClickHouse was down, so the windows are late.
    await world.goOn(NOW + 9 * DAY)
    expect(await history(visited)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + DAY + 1, 'time'],
    ])
    await world.settle()
    expect((await history(counted)).slice(-2)).toEqual([
      [true, NOW + 1 + 2 * DAY + 1, 'time'],
      [false, NOW + 5 + 2 * DAY + 1, 'time'],
    ])
  })

  it('that time or an event changed afterwards take no instant from a window that follows later', async () => {
    const visited = await insert({ event: 'visit', metric: 'last', operator: 'within_days', value: 2 })
    const vip = await insert({ tag: 'vip', operator: 'has' })
    const counted = await insert(count(1, { withinDays: 1 }))
    const none = await insert({ all: [{ not: count(1, { withinDays: 1 }) }, { tag: 'old', operator: 'has' }] })
    await apply(live('visit', NOW, { tags: ['old'] }), live('paid', NOW + 1))
    await world.follow(NOW + 10)
    await world.goOn(NOW + 3 * DAY)
    await apply(live('seen', NOW + 4 * DAY, { tags: ['vip'] }))
    expect((await history(visited)).at(-1)).toEqual([false, NOW + 2 * DAY + 1, 'time'])
    expect(await history(vip)).toEqual([[true, NOW + 4 * DAY, 'live']])
    await world.follow(NOW + 5 * DAY)
    expect((await history(counted)).at(-1)).toEqual([false, NOW + DAY + 2, 'time'])
    expect((await history(none)).at(-1)).toEqual([true, NOW + DAY + 2, 'time'])
  })

  it('that changed the rule itself do take it: what was so until then is written', async () => {
    const segment = await insert({
      any: [
        { all: [count(1, { withinDays: 1 }), { not: { tag: 'vip', operator: 'has' } }] },
        { event: 'visit', metric: 'last', operator: 'older_than_days', value: 2 },
      ],
    })
    const tagged = await insert({ all: [count(1, { withinDays: 1 }), { tag: 'vip', operator: 'has' }] })
    await apply(live('visit'), live('paid', NOW + 1))
    await world.follow(NOW + 10)
    await apply(live('seen', NOW + 1.5 * DAY, { tags: ['vip'] }))
    await world.goOn(NOW + 3 * DAY)
    await world.follow(NOW + 4 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW + 1, 'live'],
      [false, NOW + 1.5 * DAY, 'live'],
      [true, NOW + 2 * DAY + 1, 'time'],
    ])
    expect(await history(tagged)).toEqual([
      [true, NOW + 1.5 * DAY, 'live'],
      [false, NOW + 1.5 * DAY, 'time'],
    ])
  })

  it('start a campaign once when a window that follows later changes the rule at the same instant', async () => {
    const segment = await insert({
      not: { all: [count(1, { withinDays: 1 }), { event: 'paid', metric: 'last', operator: 'within_days', value: 1 }] },
    })
    const started = await startedBy(segment, 'visit')
    await apply(live('visit'), live('paid', NOW + 1))
    await world.follow(NOW + 10)
    await world.goOn(NOW + 2 * DAY)
    // The campaign may be entered again.
    await apply(live('visit', NOW + 2.5 * DAY))
    await world.follow(NOW + 3 * DAY)
    expect(await history(segment)).toEqual([
      [true, NOW, 'live'],
      [false, NOW + 1, 'live'],
      [true, NOW + DAY + 2, 'time'],
    ])
    expect(await started()).toBe(2)
  })
})

describe('people', () => {
  const BOB = { phone: '12025550123' }

  it('that are merged add up, at once', async () => {
    const segment = await insert(count(3, { withinDays: 2 }))
    const one = await insert(count(1, { withinDays: 2 }))
    await apply(live('paid', NOW), live('paid', NOW + 1), live('paid', NOW + 2, {}, BOB))
    await world.follow(NOW + 10)
    expect(await members(one)).toHaveLength(2)
    await apply(live('visit', NOW + 20, {}, { ...ANN, ...BOB }))
    expect(await members(segment)).toEqual([[NOW + 20, 'merge']])
    expect(await windows()).toEqual([['3', NOW + 2 * DAY + 1]])
    await world.follow(NOW + 30)
    expect(await history(segment)).toEqual([[true, NOW + 20, 'merge']])
    expect(await members(one)).toHaveLength(1)
    await world.settle(NOW + 9 * DAY)
    expect((await history(segment)).at(-1)).toEqual([false, NOW + 2 * DAY + 1, 'time'])
    expect((await history(one)).at(-1)).toEqual([false, NOW + 2 + 2 * DAY + 1, 'time'])
  })

  it('that are merged before the windows have followed add up afterwards', async () => {
    const segment = await insert(count(2, { withinDays: 2 }))
    await apply(live('paid', NOW), live('paid', NOW + 1, {}, BOB))
    await apply(live('visit', NOW + 20, {}, { ...ANN, ...BOB }))
    await world.follow(NOW + 30)
    expect((await members(segment)).length).toBe(1)
    expect(await refreshes()).toBe(0)
  })

  it('that are merged are asked for no longer once no rule reads windows any more', async () => {
    await insert({ event: 'paid', metric: 'count', operator: 'greater_than', value: 9 })
    const windowed = await insert(count(2, { withinDays: 2 }))
    await apply(live('paid', NOW), live('paid', NOW + 1, {}, BOB))
    await apply(live('visit', NOW + 20, {}, { ...ANN, ...BOB }))
    expect(await refreshes()).toBeGreaterThan(0)
    await world.stack.sql`
      update segment_rules set state = 'retired' where business_id = ${businessId} and segment_id = ${windowed.segmentId}`
    await world.stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
    await world.follow(NOW + 30)
    expect(await refreshes()).toBe(0)
  })

  it('that are erased leave nothing behind', async () => {
    const segment = await insert(count(1, { withinDays: 1 }))
    const [answer] = await apply(live('paid'))
    await world.follow(NOW + 1)
    await apply(live('paid', NOW + 2))
    const contactId = (answer as { contactId: string }).contactId
    await apply({ kind: 'erase', businessId, receivedAt: NOW + 3, contactId })
    expect([await windows(), await refreshes(), await members(segment)]).toEqual([[], 0, []])
    await world.follow(NOW + 4)
    expect(await members(segment)).toEqual([])
  })

  it("get their browser's history", async () => {
    const segment = await insert(count(2, { withinDays: 1 }))
    const visitorId = 'w'.repeat(32)
    const paid = { kind: 'browser', businessId, receivedAt: NOW, fact: browserFact('paid', visitorId) } as const
    await apply(paid)
    await apply(paid)
    await apply({ ...identify(businessId, identifyFact(ANN, { visitorId })), receivedAt: NOW + 50 })
    await world.follow(NOW + 100)
    expect(await members(segment)).toEqual([[NOW + 50, 'live']])
  })

  it('keep their answers while ClickHouse is away, and follow afterwards', async () => {
    const segment = await insert(count(1, { withinDays: 1 }))
    await apply(live('paid', NOW))
    await world.follow(NOW + 1)
    await apply(live('paid', NOW + 2, {}, BOB))
    const away = { ...world.deps, clickhouse: connectClickHouse('http://127.0.0.1:9/away') }
    const { signal } = new AbortController()
    world.clock = NOW + 2 * DAY
    await expect(settleWindows(away, createPostponed(), signal)).rejects.toThrow('ECONNREFUSED')
    expect(await members(segment)).toHaveLength(1)
    await world.follow(NOW + 2 * DAY)
    expect((await history(segment)).toSorted(([, a], [, b]) => Number(a) - Number(b))).toEqual([
      [true, NOW, 'live'],
      [true, NOW + 2, 'live'],
      [false, NOW + DAY + 1, 'time'],
      [false, NOW + 2 + DAY + 1, 'time'],
    ])
    await away.clickhouse.close()
  })
})

describe('a rule that is new or was edited', () => {
  const requestBuild = () => world.stack.sql`
    insert into segment_builds as b (business_id) values (${businessId})
    on conflict (business_id) do update set epoch = b.epoch + 1, cursor = null, done = 0`

  it('counts what is there, waits for what is on its way, and follows from then on', async () => {
    await apply(...[1, 2, 3].flatMap((n) => [live('paid', NOW, {}, { email: `p${n}@x.io` })]))
    await world.ship()
    await apply(live('paid', NOW, {}, ANN), live('visit', NOW, {}, { email: 'none@x.io' }))
    const segment = await insert(count(1, { withinDays: 1 }), 'building')
    const none = await insert({ not: count(1, { withinDays: 1 }) }, 'building')
    await requestBuild()
    await apply(live('paid', NOW + 20, {}, { email: 'late@x.io' }))
    world.clock = NOW + 50
    await world.build()
    expect(await world.stack.sql`select from segment_builds where business_id = ${businessId}`).toHaveLength(1)
    await world.ship()
    await world.build()
    await world.follow(NOW + 60)
    expect(await members(segment)).toHaveLength(5)
    expect(await members(none)).toHaveLength(1)
    expect(await history(segment)).toHaveLength(5)
    await world.settle(NOW + 2 * DAY)
    expect([await members(segment), await windows()]).toEqual([[], []])
    expect(await members(none)).toHaveLength(6)
    expect(await sizeOf(world.stack.sql, businessId, none)).toBe(6)
  })

  it('takes its answers along when it goes', async () => {
    const former = await insert(count(1, { withinDays: 1 }))
    await apply(live('paid'))
    await world.follow(NOW + 1)
    const segment = await insert(count(1, { withinDays: 2 }), 'building', former.segmentId)
    await requestBuild()
    world.clock = NOW + 50
    await world.ship()
    await world.build()
    expect(await members(segment)).toEqual([[NOW, 'live']])
    expect(await windows()).toEqual([['1', NOW + 2 * DAY + 1]])
    await world.stack.sql`update segment_rules set state = 'retired' where no = ${segment.no}`
    await world.stack.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
    await world.build()
    expect(await windows()).toEqual([])
    expect(await world.stack.sql`select from segment_rules where business_id = ${businessId}`).toHaveLength(0)
  })

  it('is complete though events come while it is built', async () => {
    const people = Array.from({ length: 300 }, (_, n) => ({ email: `p${n}@x.io` }))
    await apply(...people.map((who) => live('paid', NOW, {}, who)))
    await world.ship()
    const segment = await insert(count(2, { withinDays: 1 }), 'building')
    await requestBuild()
    const pay = async () => {
      for (const who of people.slice(0, 150)) await apply(live('paid', NOW + 5, {}, who))
    }
    const follow = async () => {
      for (let n = 0; n < 5; n += 1) {
        await world.follow(NOW + 20)
        await world.build()
      }
    }
    await Promise.all([pay(), follow()])
    await world.follow(NOW + 20)
    await world.build()
    await world.follow(NOW + 20)
    expect(await members(segment)).toHaveLength(150)
    expect(await sizeOf(world.stack.sql, businessId, segment)).toBe(150)
  })
})

it('live events of the same contacts lose nothing', async () => {
  const segment = await insert({
    all: [count(2, { withinDays: 1 }), { customField: 'plan', operator: 'equals', value: 'pro' }],
  })
  const other = await openPipeline(world.stack.sql, `other-${uuidv7()}`)
  const people = Array.from({ length: 200 }, (_, n) => ({ email: `p${n}@x.io` }))
  await apply(...people.map((who) => live('paid', NOW, {}, who)))
  const pay = async () => {
    for (const who of people) await apply(live('paid', NOW + 1, {}, who))
  }
  const upgrade = async () => {
    for (const who of people) await other.apply(track(businessId, eventFact('seen', who, { traits: { plan: 'pro' } })))
  }
  let isPaying = true
  const follow = async () => {
    while (isPaying) await world.follow(NOW + 10)
  }
  await Promise.all([Promise.all([pay(), upgrade()]).then(() => (isPaying = false)), follow()])
  await world.follow(NOW + 10)
  expect(await members(segment)).toHaveLength(200)
  expect(await sizeOf(world.stack.sql, businessId, segment)).toBe(200)
  expect(await history(segment)).toHaveLength(200)
})
