/** Windowed conditions, whatever happens in whatever order: the final members, and the instant of each change. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { matches } from '../../src/rules/segments/evaluate.ts'
import { resolveRule } from '../../src/rules/segments/resolve-rule.ts'
import type { Rule, WindowedCondition } from '../../src/rules/segments/rule.ts'
import { factConditionsOf } from '../../src/rules/segments/membership/reads-of.ts'
import { isWindowed } from '../../src/rules/segments/condition-kinds.ts'
import { windowKey } from '../../src/rules/segments/windows/window-key.ts'
import { NOW, batch, eventFact, track } from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness } from '../support/stack.ts'
import { type Happened, valueOfWindow } from './naive-windows.ts'
import { type TestSegment, changesOf, insertSegment, membersOf, sizeOf } from './segments-support.ts'
import { type World, openWorld } from './windows-support.ts'

const HOUR = 3_600_000
let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const paid = (more: Omit<WindowedCondition, 'event'>): WindowedCondition => ({ event: 'paid', ...more })
const RULES: Rule[] = [
  paid({ metric: 'count', withinDays: 1, operator: 'between', value: [2, 3] }),
  paid({ metric: 'sum', property: 'n', withinDays: 0.5, operator: 'greater_than', value: '0.2' }),
  { not: paid({ metric: 'count', where: [{ property: 'n', operator: 'less_than', value: 0 }], operator: 'exists' }) },
  {
    any: [
      { all: [paid({ metric: 'count', withinDays: 1, operator: 'exists' }), { tag: 'vip', operator: 'has' }] },
      {
        all: [
          { event: 'paid', metric: 'last', operator: 'older_than_days', value: 1 },
          paid({ metric: 'sum', property: 'n', withinDays: 2, operator: 'not_equals', value: 0.1 }),
        ],
      },
    ],
  },
]
const resolve = (rule: Rule) => resolveRule(rule, { segments: new Map(), currency: 'USD', country: null })

interface Known extends Happened {
  receivedAt: number
  isBatch: boolean
}
interface Person {
  contactId: string
  createdAt: number
  tags: Set<string>
  events: Known[]
}

const who = fc.integer({ min: 0, max: 5 })
const age = fc.oneof(fc.integer({ min: -300_000, max: 0 }), fc.constantFrom(0, HOUR, 12 * HOUR, 24 * HOUR, 30 * HOUR))
const happened = fc.record({
  who,
  age,
  n: fc.constantFrom<number>(0.1, 0.2, -0.3, 1e-7, 5),
  event: fc.constantFrom('paid', 'seen'),
})
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('live' as const),
      all: fc.array(happened, { minLength: 1, maxLength: 3 }),
      isVip: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      all: fc.array(happened, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 2, HOUR, 11 * HOUR, 25 * HOUR) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'follow' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'settle' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'goOn' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('merge' as const),
      a: fc.integer({ min: 0, max: 2 }),
      b: fc.integer({ min: 3, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), who }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'build' as const }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The expected people, in parallel to those that the pipeline makes. */
class Model {
  readonly people = new Map<number, Person>()
  now = NOW
  private readonly businessId: string
  constructor(businessId: string) {
    this.businessId = businessId
  }

  identity(n: number) {
    return n < 3 ? { email: `p${n}@x.io` } : { phone: `1202555012${n}` }
  }
  known(n: number): Person {
    const known = this.people.get(n) ?? { contactId: '', createdAt: this.now, tags: new Set(), events: [] }
    this.people.set(n, known)
    return known
  }
  eventOf(
    { event, n, age }: Pick<Extract<Step, { kind: 'batch' }>['all'][number], 'event' | 'n' | 'age'>,
    isBatch: boolean,
  ): Known {
    const happened = {
      event,
      at: this.now - age,
      properties: { n },
      value: null,
      currency: null,
      counted: '0',
      type: 'none',
    } as const
    return { ...happened, receivedAt: this.now, isBatch }
  }
  async live(all: Extract<Step, { kind: 'live' }>['all'], isVip: boolean): Promise<void> {
    for (const one of all) {
      const event = this.eventOf(one, false)
      const fact = eventFact(one.event, this.identity(one.who), {
        occurredAt: event.at,
        properties: JSON.stringify(event.properties),
        tags: isVip ? ['vip'] : [],
      })
      const answer = await world.pipeline.track({ ...track(this.businessId, fact), receivedAt: this.now })
      const person = this.known(one.who)
      person.contactId = answer.contactId ?? ''
      if (isVip) person.tags.add('vip')
      person.events.push(event)
    }
  }
  async batch(all: Extract<Step, { kind: 'batch' }>['all']): Promise<void> {
    const made = all.map((one) => ({ one, event: this.eventOf({ ...one, age: Math.max(0, one.age) }, true) }))
    const facts = made.map(({ one, event }) =>
      eventFact(one.event, this.identity(one.who), {
        occurredAt: event.at,
        properties: JSON.stringify(event.properties),
      }),
    )
    await world.pipeline.apply({ ...batch(this.businessId, facts), receivedAt: this.now })
    for (const { one, event } of made) this.known(one.who).events.push(event)
  }
  async merge(a: number, b: number): Promise<void> {
    const fact = eventFact('seen', { ...this.identity(a), ...this.identity(b) }, { occurredAt: this.now })
    const answer = await world.pipeline.track({ ...track(this.businessId, fact), receivedAt: this.now })
    const [one, other] = [this.known(a), this.known(b)]
    if (one !== other) {
      one.events.push(...other.events)
      for (const tag of other.tags) one.tags.add(tag)
      for (const [n, person] of this.people) if (person === other) this.people.set(n, one)
    }
    one.contactId = answer.contactId ?? ''
    one.events.push({ ...this.eventOf({ event: 'seen', n: 0, age: 0 }, false) })
  }
  async erase(n: number): Promise<void> {
    const person = this.people.get(n)
    if (!person) return
    const contactId = await this.idOf(n)
    await world.pipeline.apply({ kind: 'erase', businessId: this.businessId, receivedAt: this.now, contactId })
    for (const [place, one] of this.people) if (one === person) this.people.delete(place)
  }
  async idOf(n: number): Promise<string> {
    const [row] = await world.stack.sql<{ id: string }[]>`
      select contact_id as id from identities where business_id = ${this.businessId} and value = ${String(Object.values(this.identity(n))[0])}`
    return row!.id
  }
  matches(rule: Rule, { tags, events }: Person): boolean {
    const resolved = resolve(rule)
    const windows = new Map<string, string>()
    for (const condition of factConditionsOf(resolved).filter(isWindowed)) {
      const value = valueOfWindow(condition, events, this.now)
      if (value !== undefined) windows.set(windowKey(condition), value)
    }
    const times = events.filter(({ event }) => event === 'paid').map(({ at }) => at)
    const statistic = { firstAt: Math.min(...times), lastAt: Math.max(...times), count: times.length }
    const facts = {
      createdAt: 0,
      stage: 0,
      profile: {},
      identities: [],
      subscriptions: {},
      topics: {},
      orderCount: 0,
      statistics: new Map(times.length > 0 ? [['paid', statistic]] : []),
      traits: new Map(),
      tags,
      revenue: new Map(),
      windows,
    }
    return matches(resolved, facts, new Map(), this.now)
  }
}

async function run(model: Model, steps: Step[], build: () => Promise<void>): Promise<void> {
  for (const one of steps) {
    switch (one.kind) {
      case 'live':
        await model.live(one.all, one.isVip)
        break
      case 'batch':
        await model.batch(one.all)
        break
      case 'wait':
        model.now += one.ms
        break
      case 'follow':
        await world.follow(model.now)
        break
      case 'settle':
        await world.settle(model.now)
        break
      case 'goOn':
        await world.goOn(model.now)
        break
      case 'merge':
        await model.merge(one.a, one.b)
        break
      case 'erase':
        await model.erase(one.who)
        break
      case 'build':
        await build()
    }
  }
}

/** Expects that the entries and exits of each contact alternate, are in order, and add up to the present members. */
async function checkHistory(businessId: string, segment: TestSegment, present: Set<string>): Promise<void> {
  const made = Map.groupBy(await changesOf(world.stack.sql, businessId, segment), ({ contactId }) => contactId)
  for (const [contactId, changes] of made) {
    changes.forEach(({ entered }, n) => expect(entered).toBe(n % 2 === 0))
    const times = changes.map(({ at }) => at)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(changes.at(-1)?.entered).toBe(present.has(contactId))
  }
}

it('the members are those of whom the rule is true', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const { businessId } = await createBusiness(world.stack.sql)
      const segments: { rule: Rule; segment: TestSegment }[] = []
      const model = new Model(businessId)
      world.clock = NOW
      for (const rule of RULES.slice(0, 3))
        segments.push({ rule, segment: await insertSegment(world.stack.sql, businessId, rule) })
      const build = async () => {
        const rule = RULES[segments.length]
        if (!rule) return
        segments.push({ rule, segment: await insertSegment(world.stack.sql, businessId, rule, 'building') })
        await world.stack.sql`insert into segment_builds (business_id) values (${businessId})`
        world.clock = model.now
        await world.build()
      }
      await run(model, steps, build)
      await world.follow(model.now)
      await world.ship()
      await world.build()
      await world.follow(model.now)
      for (const { rule, segment } of segments) {
        const expected = new Set<string>()
        for (const [n, person] of model.people) if (model.matches(rule, person)) expected.add(await model.idOf(n))
        const present = (await membersOf(world.stack.sql, businessId, segment)).map(({ contactId }) => contactId)
        expect(new Set(present)).toEqual(expected)
        expect(await sizeOf(world.stack.sql, businessId, segment)).toBe(present.length)
        await checkHistory(businessId, segment, expected)
      }
      expect(
        await world.stack.sql`select from segment_window_refreshes where business_id = ${businessId}`,
      ).toHaveLength(0)
    }),
    { numRuns: runs(15) },
  )
})

it('each change has its instant and its cause', { timeout: 600_000 }, async () => {
  const [rule] = RULES
  const condition = rule as WindowedCondition
  const one = fc.record({
    waits: fc.constantFrom(1, HOUR, 13 * HOUR, 24 * HOUR, 24 * HOUR + 1, 49 * HOUR),
    age: fc.constantFrom(0, 1, HOUR, 23 * HOUR),
    /** ClickHouse is away after it. */
    isAway: fc.boolean(),
    isVip: fc.boolean(),
  })
  // What live events and time change of others meanwhile.
  const others: Rule[] = [
    { event: 'paid', metric: 'last', operator: 'older_than_days', value: 0.5 },
    { tag: 'vip', operator: 'has' },
    paid({ metric: 'count', withinDays: 0.25, operator: 'exists' }),
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { businessId } = await createBusiness(world.stack.sql)
      const segment = await insertSegment(world.stack.sql, businessId, rule!)
      for (const other of others) await insertSegment(world.stack.sql, businessId, other)
      const model = new Model(businessId)
      world.clock = NOW
      const events: (Known & { group: number })[] = []
      let group = 0
      for (const { waits, age, isAway, isVip } of steps) {
        model.now += waits
        await model.live([{ who: 0, age, n: 1, event: 'paid' }], isVip)
        events.push({ ...model.eventOf({ event: 'paid', n: 1, age }, false), group })
        await (isAway ? world.goOn(model.now) : world.follow(model.now))
        if (!isAway) group += 1
      }
      await world.follow(model.now + 50 * HOUR)
      const changes = await changesOf(world.stack.sql, businessId, segment)
      expect(changes.map(({ entered, at, cause }) => [entered, at, cause])).toEqual(expectedChanges(condition, events))
    }),
    { numRuns: runs(10) },
  )
})

/** At the same instant, changes by time come before changes by events received then. */
function expectedChanges(
  { withinDays = 0 }: WindowedCondition,
  events: (Known & { group: number })[],
): [boolean, number, string][] {
  const span = withinDays * 86_400_000
  const instants = new Set(events.flatMap(({ at, receivedAt }) => [at + span + 1, receivedAt]))
  const made: { change: [boolean, number, string]; group: number | null }[] = []
  let was = false
  for (const instant of [...instants].toSorted((a, b) => a - b))
    for (const [cause, received] of [
      ['time', instant - 1],
      ['live', instant],
    ] as const) {
      const inside = events.filter(({ at, receivedAt }) => receivedAt <= received && at + span >= instant).length
      const is = inside >= 2 && inside <= 3
      if (is === was) continue
      was = is
      const group = cause === 'time' ? null : events.find(({ receivedAt }) => receivedAt === instant)!.group
      if (group !== null && made.at(-1)?.group === group) made.pop()
      else made.push({ change: [is, instant, cause], group })
    }
  return made.map(({ change }) => change)
}
