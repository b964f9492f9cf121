/** The schema of rules in the OpenAPI document accepts and refuses what the reader accepts and refuses. */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { FaultCode } from '../../../src/rules/faults.ts'
import { ATTRIBUTES, ATTRIBUTE_NAMES } from '../../../src/rules/segments/grammar/attributes.ts'
import * as limits from '../../../src/rules/segments/grammar/limits.ts'
import {
  OPERATORS,
  type Operand,
  TYPE_OF_FIELD,
  VALUE_TYPES,
  type ValueType,
  rowsOf,
} from '../../../src/rules/segments/grammar/operators.ts'
import { ExplainedRuleSchema, RuleSchema } from '../../../src/rules/segments/grammar/rule-schema.ts'
import { readRuleForm } from '../../../src/rules/segments/reading/read-rule.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { runs } from '../../support/runs.ts'
import { propertyCondition } from '../../segments/event-world.ts'
import { ruleOf } from './worlds.ts'

const SCHEMA = TypeCompiler.Compile(RuleSchema)
const EXPLAINED = TypeCompiler.Compile(ExplainedRuleSchema)

/** What a schema cannot say. The reader alone refuses it. */
const BEYOND_SCHEMAS: ReadonlySet<FaultCode | undefined> = new Set([
  'real_instant',
  'lesser_first',
  'clean_text',
  'path_parts',
  'rule_levels',
  'rule_conditions',
  'json_size',
] as const)

const OPTIONAL = ['value', 'ignoreCase', 'currency', 'channel', 'topic', 'withinDays', 'where', 'property']

/** Returns the JSON without the optional keys that are null, which count as left out. */
const withoutNulls = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json), (key, value: unknown) =>
    value === null && OPTIONAL.includes(key) ? undefined : value,
  )

function expectAgreement(raw: unknown): void {
  const read = readRuleForm(raw, new Map(), 'rule')
  const faults = 'faults' in read ? read.faults : []
  if (faults.length > 0 && faults.every(({ code }) => BEYOND_SCHEMAS.has(code))) return
  const answer = { raw, faults, isAccepted: faults.length === 0 }
  expect({ ...answer, isAccepted: SCHEMA.Check(withoutNulls(raw)) }).toEqual(answer)
}

const VALUES: Record<Operand, unknown> = {
  none: undefined,
  days: 30,
  instant: '2026-01-01',
  number: 2.5,
  range: [1, 2],
  text: 'x',
  texts: ['x', 'y'],
  stage: 'Decision',
  stages: ['Decision', 'Advocacy'],
}
const conditionsOn = (start: object, type: ValueType, isField = false): object[] =>
  rowsOf(type, isField).map(({ operator, operand }) => ({ ...start, operator, value: VALUES[operand] }))

const where = { property: 'a.b', operator: 'in', value: ['x'] }
const window = { withinDays: 7, where: [where] }
const KINDS: [string, object[]][] = [
  ['the time of an event', conditionsOn({ event: 'a', metric: 'first' }, 'date')],
  ['a count', conditionsOn({ event: 'a', metric: 'count' }, 'number')],
  ['a windowed count', conditionsOn({ event: 'a', metric: 'count', ...window }, 'number')],
  ['revenue', conditionsOn({ event: 'a', metric: 'sum', property: 'value', currency: 'EUR', ...window }, 'number')],
  ['a sum', conditionsOn({ event: 'a', metric: 'sum', property: 'x' }, 'number')],
  ...Object.values(TYPE_OF_FIELD).map((type): [string, object[]] => [
    `a field: ${type}`,
    conditionsOn({ customField: 'f' }, type, true),
  ]),
  ['a tag', conditionsOn({ tag: 't' }, 'tag')],
  ['a segment', conditionsOn({ segment: 's' }, 'segment')],
  ...ATTRIBUTE_NAMES.map((attribute): [string, object[]] => [
    attribute,
    conditionsOn({ attribute, ...(attribute === 'subscribed' && { channel: 'sms' }) }, ATTRIBUTES[attribute]),
  ]),
  ...(['text', 'number', 'boolean'] as const).map((type): [string, object[]] => [
    `a property: ${type}`,
    conditionsOn({ property: 'a' }, type).map((one) => ({
      event: 'a',
      metric: 'count',
      where: [one],
      operator: 'exists',
    })),
  ]),
]

describe('every operator of', () => {
  test.each(KINDS)('%s, with a value of each kind', (_, conditions) => {
    for (const condition of conditions) {
      expect(readRuleForm(condition, new Map(), 'rule')).toHaveProperty('rule')
      for (const value of Object.values(VALUES)) expectAgreement({ ...condition, value })
      for (const type of VALUE_TYPES)
        for (const operator of Object.keys(OPERATORS[type])) expectAgreement({ ...condition, operator })
      for (const property of ['value', 'currency', 'type', '']) {
        expectAgreement({ ...condition, property })
        if ('where' in condition) expectAgreement({ ...condition, where: [{ ...where, property }] })
      }
    }
  })
})

const OPERATOR_NAMES = VALUE_TYPES.flatMap((type) => Object.keys(OPERATORS[type]))
const TAGGED = { tag: 'x', operator: 'has' }
const times = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item)
const NUMBERS = [0, -1, 0.5, limits.MAX_DAYS, limits.MAX_DAYS + 1]
const LENGTHS = [limits.MAX_NAME, limits.MAX_NAME + 1, limits.MAX_TEXT + 1]
const TEXTS = ['', 'x', '1.50', 'EUR', '2026-01-01', 'first', 'count', 'sum', 'value', 'currency', 'sms', 'Decision']
const LISTS = [[], ['x'], ['x', ''], [1], [1, 2], ['1', 2], [1, 2, 3], [{}], [where], times(6, where), times(501, 'x')]
const VALUE = fc.oneof(
  fc.constantFrom(undefined, null, true, {}, TAGGED, [TAGGED], ['Decision'], ...NUMBERS),
  fc.constantFrom(...TEXTS, ...ATTRIBUTE_NAMES, ...OPERATOR_NAMES, ...LENGTHS.map((length) => 'x'.repeat(length))),
  fc.constantFrom(...LISTS),
)
const GROUPS = ['all', 'any', 'not'] as const
const READS = ['event', 'customField', 'tag', 'attribute', 'segment'] as const
const WORD = fc.constantFrom(...GROUPS, ...READS, 'metric', 'operator', 'unknown', ...OPTIONAL)

function objectsIn(json: unknown): Record<string, unknown>[] {
  if (Array.isArray(json)) return json.flatMap(objectsIn)
  if (typeof json !== 'object' || json === null) return []
  return [json as Record<string, unknown>, ...Object.values(json).flatMap(objectsIn)]
}

const narrowed: fc.Arbitrary<Rule> = fc
  .record({ where: fc.array(propertyCondition, { minLength: 1, maxLength: 3 }), isSum: fc.boolean() })
  .map(({ where, isSum }) => ({
    event: 'visit',
    where,
    operator: 'greater_than',
    value: 1,
    ...(isSum ? { metric: 'sum', property: 'value' } : { metric: 'count' }),
  }))
const rule = fc.oneof({ weight: 2, arbitrary: ruleOf(['inner']) }, narrowed)

test('every rule of the world is accepted', () => {
  fc.assert(fc.property(rule, expectAgreement), { numRuns: runs(2000) })
})

test('a rule of which one word was changed is accepted by both, or refused by both', () => {
  const changed = fc.tuple(rule, fc.nat(), fc.oneof(WORD, fc.nat()), VALUE)
  fc.assert(
    fc.property(changed, ([original, place, word, value]) => {
      const copy: unknown = JSON.parse(JSON.stringify(original))
      const objects = objectsIn(copy)
      const object = objects[place % objects.length] ?? {}
      const words = Object.keys(object)
      object[typeof word === 'string' ? word : (words[word % words.length] ?? '')] = value
      expectAgreement(JSON.parse(JSON.stringify(copy)))
    }),
    { numRuns: runs(10_000) },
  )
})

it('describes explained rules with their answers', () => {
  const leaf = { tag: 'x', operator: 'has', matches: true, seen: false }
  const explained = { all: [leaf, { not: { ...leaf, seen: null }, matches: false }], matches: false }
  expect(EXPLAINED.Check(explained)).toBe(true)
  expect(EXPLAINED.Check({ all: [{ tag: 'x', operator: 'has' }], matches: true })).toBe(false)
})
