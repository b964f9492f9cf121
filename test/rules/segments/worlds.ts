/** Rules and contacts that often match: few names, few values, and instants near each other. */
import * as fc from 'fast-check'
import type { FieldType } from '../../../src/rules/events/facts.ts'
import { CHANNELS, PROFILE_FIELDS } from '../../../src/rules/events/facts.ts'
import { STAGES } from '../../../src/rules/events/journey-stage.ts'
import type { TraitEntry } from '../../../src/rules/events/traits.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import {
  type Operand,
  type OperatorOf,
  type ValueType,
  neededType,
  rowsOf,
} from '../../../src/rules/segments/grammar/operators.ts'
import type {
  Condition,
  PropertyCondition,
  Rule,
  RuleValue,
  WindowedCondition,
} from '../../../src/rules/segments/rule.ts'
import { order } from './naive-rules.ts'
import type { TopicChannel, TopicRules } from '../../../src/rules/topics/topic.ts'
import { windowKey } from '../../../src/rules/segments/windows/window-key.ts'

export const BASE = Date.parse('2026-11-20T12:00:00Z')
export const CURRENCY = 'EUR'
export const FIELDS: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['plan', 'Text'],
  ['constructor', 'Text'],
  ['age', 'Number'],
  ['vip', 'Boolean'],
  ['renewal', 'Date'],
])

export const TOPICS: ReadonlyMap<string, TopicRules> = new Map([
  ['news', { channels: CHANNELS, defaultOn: true, isActive: true }],
  ['offers', { channels: CHANNELS, defaultOn: false, isActive: false }],
])

const NAMES = ['purchase', '__proto__', 'constructor', 'visit']
// The Kelvin sign and a dotless i fold to ASCII letters in some rules; here they must not.
const TEXTS = ['a', 'A', 'ab', 'aB', 'AB', 'b', 'k', '\u212A', 'i', '\u0131', 'é', 'É', '😀', 'x"y', 'a\\b']
const EMAILS = ['ann@example.com', 'bob@example.com', 'kim@shop.example']
const PHONES = ['4917612345678', '4915112345678', '13125550100']
const IDS = ['ABC-1', 'abc-1', '42']
const DECIMALS = ['0', '-0.5', '0.1', '0.3', '12.500000', '1000000000000000', '1000000000000000.000001']
const NUMBERS = [0, -0.5, 0.1, 0.3, 1, 2, 3, 12.5, 1e15, 1e-7]
const DAYS = [1e-8, 3e-8, 5e-7, 0.3, 0.5, 1, 1.1, 7, 30, 0.1234567891, 36_500]
const DAY = 86_400_000

const oneOf = fc.constantFrom
const list = <Item>(items: readonly Item[]) => fc.array(oneOf(...items), { minLength: 1, maxLength: 3 })

/** Instants near thresholds: whole multiples of the rules' days, plus or minus 2 ms. */
export const instant = (around = BASE) =>
  fc
    .tuple(oneOf(0, ...DAYS), fc.integer({ min: -2, max: 2 }), oneOf(-1, 1))
    .map(([days, more, side]) => around + side * Math.floor(days * DAY) + more)

/** A tiny world, in which every millisecond can be checked. */
export const SMALL = { days: [1e-8, 5e-8, 1e-7, 2.5e-7, 3e-7], instant: fc.integer({ min: BASE, max: BASE + 40 }) }

const isoOf = (at: number): string => new Date(at).toISOString()

/** Returns every operator of a type, with values of what it compares with. A new operator is among them. */
function operation<Type extends ValueType>(
  type: Type,
  valueOf: (row: { operator: string; operand: Operand }) => fc.Arbitrary<RuleValue>,
  isField = false,
): fc.Arbitrary<{ operator: OperatorOf<Type>; value?: RuleValue; ignoreCase?: boolean }> {
  const rows = Map.groupBy(rowsOf(type, isField), ({ operand }) => operand)
  return fc.oneof(
    ...[...rows].map(([operand, group]) =>
      oneOf(...group).chain(({ operator }) => {
        if (operand === 'none') return fc.record({ operator: fc.constant(operator) })
        const fields = { operator: fc.constant(operator), value: valueOf({ operator, operand }) }
        return operand === 'text' || operand === 'texts'
          ? fc.record({ ...fields, ignoreCase: fc.boolean() }, { requiredKeys: ['operator', 'value'] })
          : fc.record(fields)
      }),
    ),
  )
}

const date = (days: readonly number[], at: fc.Arbitrary<number>, isField: boolean) =>
  operation('date', ({ operand }) => (operand === 'instant' ? at.map(isoOf) : oneOf(...days)), isField)

const pair = <Value>(a: Value, b: Value): [Value, Value] => [a, b]
const number = (numbers: readonly (number | string)[]) =>
  operation('number', ({ operand }) =>
    operand === 'range'
      ? fc
          .tuple(oneOf(...numbers), oneOf(...numbers))
          .map(([a, b]) => (order(String(a), String(b)) <= 0 ? pair(a, b) : pair(b, a)))
      : oneOf(...numbers),
  )
const text = (texts: readonly string[], fragments = texts) =>
  operation('text', ({ operator, operand }) => {
    if (operand === 'texts') return list(texts)
    return oneOf(...(operator.endsWith('equals') ? texts : fragments))
  })
const boolean = operation('boolean', () => fc.constant(''))
const stage = operation('stage', ({ operand }) =>
  operand === 'stages' ? list<string>(STAGES) : oneOf<string[]>(...STAGES),
)

/** Combines these words with those of the operator. */
const joined = <A extends object, B extends object>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>) =>
  fc.tuple(a, b).map(([a, b]) => ({ ...a, ...b }))

const WHERE: PropertyCondition[] = [{ property: 'item.category', operator: 'equals', value: 'shoes' }]
const windowed: fc.Arbitrary<WindowedCondition> = joined(
  fc.oneof(
    fc.record({ event: oneOf(...NAMES), metric: fc.constant('count' as const), withinDays: oneOf(1, 30) }),
    fc.record({ event: oneOf(...NAMES), metric: fc.constant('count' as const), where: fc.constant(WHERE) }),
    fc.record({ event: oneOf(...NAMES), metric: fc.constant('sum' as const), property: fc.constant('value') }),
  ),
  number(NUMBERS),
)

const conditionOf = (days: readonly number[], at: fc.Arbitrary<number>): fc.Arbitrary<Condition> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: joined(
        fc.record({ event: oneOf(...NAMES), metric: oneOf('last' as const, 'first' as const) }),
        date(days, at, false),
      ),
    },
    joined(fc.record({ event: oneOf(...NAMES), metric: fc.constant('count' as const) }), number(NUMBERS)),
    windowed,
    // Operators of every type for every field, because a field that is added later can have another type.
    {
      weight: 4,
      arbitrary: joined(
        fc.record({ customField: oneOf(...FIELDS.keys(), 'later') }),
        fc.oneof(date(days, at, true), number(NUMBERS), text(TEXTS), boolean),
      ),
    },
    { weight: 2, arbitrary: joined(fc.record({ customField: fc.constant('renewal') }), date(days, at, true)) },
    joined(
      fc.record({ tag: oneOf(...NAMES) }),
      operation('tag', () => fc.constant('')),
    ),
    joined(fc.record({ attribute: oneOf(...PROFILE_FIELDS) }), text(TEXTS)),
    joined(
      fc.record({ attribute: fc.constant('email' as const) }),
      text([...EMAILS, ' ANN@Example.com'], ['ann', 'EXAMPLE', '@']),
    ),
    joined(
      fc.record({ attribute: fc.constant('phone' as const) }),
      text(['+49 176 12345678', '+1 (312) 555-0100'], ['+49', '678', 'x']),
    ),
    joined(
      fc.record({ attribute: fc.constant('platformCustomerId' as const) }),
      text([...IDS, ' 42 '], ['AB', 'b', '2']),
    ),
    joined(fc.record({ attribute: fc.constant('stage' as const) }), stage),
    joined(
      fc.record(
        { attribute: fc.constant('revenue' as const), currency: oneOf('EUR', 'usd', 'Usd') },
        { requiredKeys: ['attribute'] },
      ),
      number([...NUMBERS, ...DECIMALS]),
    ),
    joined(fc.record({ attribute: fc.constant('orderCount' as const) }), number(NUMBERS)),
    joined(fc.record({ attribute: fc.constant('createdAt' as const) }), date(days, at, false)),
    joined(fc.record({ attribute: fc.constant('subscribed' as const), channel: oneOf(...CHANNELS) }), boolean),
    joined(
      fc.record({
        attribute: fc.constant('subscribed' as const),
        channel: oneOf('email' as const, 'sms' as const),
        topic: oneOf(...TOPICS.keys()),
      }),
      boolean,
    ),
  )

/** One condition for each operator of each kind of condition. */
export const oneOfEachOperator: fc.Arbitrary<Condition[]> = fc
  .array(conditionOf(DAYS, instant()), { minLength: 1500, maxLength: 1500 })
  .map((conditions) => [...Map.groupBy(conditions, kindOf).values()].flatMap(([first]) => first ?? []))

function kindOf(condition: Condition): string {
  const [reads = ''] = Object.keys(condition)
  const name = 'attribute' in condition ? condition.attribute : 'customField' in condition && neededType(condition)
  return [reads, name, 'metric' in condition && condition.metric, condition.operator].join(' ')
}

/** @param segments the ids of segments that the rule may name */
export function ruleOf(
  segments: readonly string[],
  { days, instant: at }: { days: readonly number[]; instant: fc.Arbitrary<number> } = {
    days: DAYS,
    instant: instant(),
  },
): fc.Arbitrary<Rule> {
  const leaf: fc.Arbitrary<Rule> =
    segments.length === 0
      ? conditionOf(days, at)
      : fc.oneof(
          { weight: 4, arbitrary: conditionOf(days, at) },
          fc.record({ segment: oneOf(...segments), operator: oneOf('is_member' as const, 'is_not_member' as const) }),
        )
  const { rule } = fc.letrec<{ rule: Rule }>((tie) => ({
    rule: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      leaf,
      fc.record({ all: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('rule') }),
    ),
  }))
  return rule
}

/** Two segments. `outer` may name `inner`. */
export const segmentsOf = (world?: Parameters<typeof ruleOf>[1]): fc.Arbitrary<ReadonlyMap<string, Rule>> =>
  fc.tuple(ruleOf([], world), ruleOf(['inner'], world)).map(
    ([inner, outer]) =>
      new Map([
        ['inner', inner],
        ['outer', outer],
      ]),
  )

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const mapOf = <Value>(keys: readonly string[], value: fc.Arbitrary<Value>) =>
  fc.tuple(...keys.map(() => maybe(value))).map(
    (values) =>
      new Map(
        keys.flatMap((key, index): [string, Value][] => {
          const value = values[index]
          return value === undefined ? [] : [[key, value]]
        }),
      ),
  )

const jsonOf = (value: fc.Arbitrary<string | number | boolean>): fc.Arbitrary<TraitEntry> =>
  fc.option(value).map((value) => [0, value === null ? null : JSON.stringify(value)])

const traitsOf = (at: fc.Arbitrary<number>) =>
  fc
    .record(
      {
        plan: jsonOf(oneOf(...TEXTS)),
        constructor: jsonOf(oneOf(...TEXTS)),
        age: jsonOf(oneOf(...NUMBERS)),
        vip: jsonOf(fc.boolean()),
        renewal: jsonOf(fc.oneof(at.map(isoOf), fc.constant('2026-11-20'))),
      },
      { requiredKeys: [] },
    )
    .map((traits) => new Map(Object.entries(traits)))

const identity = fc.oneof(
  fc.record({ kind: fc.constant('email' as const), value: oneOf(...EMAILS), proven: fc.boolean() }),
  fc.record({ kind: fc.constant('phone' as const), value: oneOf(...PHONES), proven: fc.boolean() }),
  fc.record({ kind: fc.constant('platformCustomerId' as const), value: oneOf(...IDS), proven: fc.boolean() }),
)

const statisticOf = (at: fc.Arbitrary<number>) =>
  fc
    .record({ one: at, other: at, count: fc.integer({ min: 1, max: 4 }) })
    .map(({ one, other, count }) => ({ firstAt: Math.min(one, other), lastAt: Math.max(one, other), count }))

const WINDOWS = NAMES.flatMap((event): WindowedCondition[] => [
  { event, metric: 'count', operator: 'exists', withinDays: 1 },
  { event, metric: 'count', operator: 'exists', withinDays: 30 },
  { event, metric: 'count', operator: 'exists', where: WHERE },
  { event, metric: 'sum', operator: 'exists', property: 'value', currency: CURRENCY },
])

const TOPIC_CHANNELS = ['news email', 'news sms', 'offers email', 'offers sms'] as const satisfies TopicChannel[]

export const factsOfWorld = (at: fc.Arbitrary<number> = instant()): fc.Arbitrary<SegmentFacts> =>
  fc.record({
    createdAt: at,
    stage: fc.integer({ min: 0, max: 4 }),
    profile: fc.record(Object.fromEntries(PROFILE_FIELDS.map((field) => [field, oneOf(...TEXTS)])), {
      requiredKeys: [],
    }),
    identities: fc.array(identity, { maxLength: 4 }),
    subscriptions: fc.record(
      Object.fromEntries(
        CHANNELS.map((channel) => [channel, fc.record({ subscribed: fc.boolean(), at: fc.constant(0) })]),
      ),
      { requiredKeys: [] },
    ),
    topics: fc.record(
      Object.fromEntries(
        TOPIC_CHANNELS.map((name) => [name, fc.record({ subscribed: fc.boolean(), at: fc.constant(0) })]),
      ) as Record<TopicChannel, fc.Arbitrary<{ subscribed: boolean; at: number }>>,
      { requiredKeys: [] },
    ),
    orderCount: fc.integer({ min: 0, max: 3 }),
    statistics: mapOf(NAMES, statisticOf(at)),
    traits: traitsOf(at),
    tags: fc.uniqueArray(oneOf(...NAMES)).map((tags) => new Set(tags)),
    revenue: mapOf(['EUR', 'USD'], oneOf(...DECIMALS)),
    windows: mapOf(WINDOWS.map(windowKey), oneOf(...DECIMALS, '1', '2', '3')),
  })
