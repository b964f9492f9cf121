/**
 * Random lives of a few people who often meet: the calls, their instants and partitions, and the steps of the worker in
 * between.
 */
import * as fc from 'fast-check'
import { PROFILE_FIELDS, type TraitValue } from '../../../src/rules/events/facts.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { conditionsOf } from '../../../src/rules/segments/walk-conditions.ts'
import { isWindowed } from '../../../src/rules/segments/condition-kinds.ts'
import { ruleOf } from '../../rules/segments/worlds.ts'
import { NOW } from '../../support/facts.ts'
import { SLACK } from './check-memberships.ts'

export const DAY = 86_400_000
/** Values for rules: 1 ms, 50 ms, 864 ms, and longer. */
export const DAYS = [2e-8, 5.8e-7, 1e-5, 1e-3, 0.5]
const SPANS = [0, ...DAYS.map((days) => Math.floor(days * DAY))]

const oneOf = fc.constantFrom
const sometimes = <Value>(value: fc.Arbitrary<Value>, freq = 3) => fc.option(value, { nil: undefined, freq })
const optional = <Value>(shape: Record<string, fc.Arbitrary<Value>>) =>
  fc.record<Record<string, Value>, string>(shape, { requiredKeys: [] })

export const who = fc
  .record({
    platformCustomerId: fc.option(oneOf('ABC-1', '42'), { nil: undefined, freq: 1 }),
    email: sometimes(oneOf('ann@example.com', 'bob@example.com', 'kim@shop.example')),
    phone: fc.option(oneOf('4917612345678', '13125550100'), { nil: undefined, freq: 1 }),
  })
  .filter((identity) => Object.values(identity).some((value) => value !== undefined))
  .map((identity) => Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined)))

/** Relative to the clock, near the thresholds of rules. */
const offset = fc
  .tuple(oneOf(...SPANS), oneOf(-1, -1, -1, 1), fc.integer({ min: -1, max: 1 }))
  .map(([span, side, more]) => side * span + more)
const isPast = (offset: number) => offset <= 0
const traits = optional<TraitValue>({
  plan: oneOf<TraitValue>('a', 'AB', 'x"y', null),
  age: oneOf<TraitValue>(0.3, 2, 12.5, null, 'not a number'),
  vip: oneOf<TraitValue>(true, false, null),
  later: oneOf<TraitValue>('k', 3, null),
  renewal: fc.oneof(offset, fc.constant(null)),
})
const names = oneOf('purchase', 'visit', '__proto__', 'constructor', 'add_to_cart', 'referral_made')
const tags = fc.uniqueArray(oneOf('purchase', 'visit', '__proto__', 'constructor', 'other'), { maxLength: 2 })
const visitor = oneOf('v'.repeat(32), 'w'.repeat(32))
const profile = optional(Object.fromEntries(PROFILE_FIELDS.map((field) => [field, oneOf('a', 'AB', 'é')])))
const event = fc.record({
  event: names,
  who,
  at: offset.filter(isPast),
  value: sometimes(oneOf(0, 12.5, -12.5, 0.3), 1),
  currency: oneOf('EUR', 'USD'),
  tags,
  traits,
  key: sometimes(oneOf('k1', 'k2', 'k3'), 1),
  visitor: sometimes(visitor, 1),
  keyed: oneOf(true, true, false),
})

/** Calls that share a micro-batch with others. */
const shared = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('track' as const), fact: event }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      facts: fc.array(event, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('identify' as const),
      who,
      profile,
      traits,
      traitsAt: sometimes(offset.filter(isPast), 1),
      visitor: sometimes(visitor, 1),
      keyed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('browser' as const), event: names, visitor, at: offset.filter(isPast) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('subscribe' as const),
      whom: fc.nat(),
      channels: optional({ email: fc.boolean(), sms: fc.boolean(), push: fc.boolean() }),
    }),
  },
)
const alone = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      whom: fc.nat(),
      profile: optional(Object.fromEntries(PROFILE_FIELDS.map((field) => [field, oneOf('a', 'é', null)]))),
      traits,
      addTags: tags,
      removeTags: tags,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), whom: fc.nat() }) },
)
const delivery = <Call>(call: fc.Arbitrary<Call>) =>
  fc.record({
    call,
    /** True for calls to another business, whose people have the same identities. */
    other: fc.nat({ max: 7 }).map((n) => n === 7),
    isReplay: fc.nat({ max: 7 }).map((n) => n === 7),
    /** How long before the clock the call was received, in ms. */
    back: oneOf(0, 0, 0, 1, 5, 60, SLACK - 100),
  })
export type SentCall = typeof delivery extends (call: never) => fc.Arbitrary<infer Made>
  ? Omit<Made, 'call'> & { call: Generated<typeof shared> | Generated<typeof alone> }
  : never
type Generated<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never
export type SentEvent = Generated<typeof event>

/** The calls of one partition out of three. The last partition has no cache of contacts. */
const calls = fc.record({
  kind: fc.constant('calls' as const),
  partition: fc.nat({ max: 2 }),
  calls: fc.oneof(
    { weight: 5, arbitrary: fc.array(delivery(shared), { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: delivery(alone).map((one) => [one]) },
  ),
  isPoisoned: fc.nat({ max: 19 }).map((n) => n === 19),
})

const at = offset.map((more) => NOW + more)
export const rule: fc.Arbitrary<Rule> = ruleOf([], { days: DAYS, instant: at }).filter((rule) =>
  conditionsOf(rule).every((condition) => !('event' in condition && isWindowed(condition))),
)

const step = fc.oneof(
  { weight: 12, arbitrary: calls },
  /** `near` moves the clock to about a threshold: the next due instant of a contact, plus or minus 1 ms. */
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: oneOf(1, 2, 49, 863, 90_000, DAY),
      near: sometimes(fc.record({ which: fc.nat(), more: fc.integer({ min: -1, max: 1 }) })),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ kind: 'settle' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'build' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('define' as const), which: fc.nat({ max: 5 }), rule }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'fold' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('race' as const), first: calls, second: calls }),
  },
)
export type Step = Generated<typeof step>
export type SentCalls = Generated<typeof calls>

export const life = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
  pageIdentify: oneOf('open' as const, 'confirmed' as const),
  steps: fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }),
})
export type Life = Generated<typeof life>
