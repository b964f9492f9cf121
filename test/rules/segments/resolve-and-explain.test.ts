import { describe, expect, test } from 'vitest'
import { explainRule } from '../../../src/rules/segments/explain-rule.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import { resolveRule } from '../../../src/rules/segments/resolve-rule.ts'
import type { Condition, Rule } from '../../../src/rules/segments/rule.ts'
import { windowKey } from '../../../src/rules/segments/windows/window-key.ts'
import { factsOf, withEvent, withField } from './facts-of.ts'
import { type World, resolved } from './rule-of.ts'

describe('resolveRule', () => {
  test('leaves what depends on nothing as it is', () => {
    const rule = { all: [{ tag: 'vip', operator: 'has' }, { not: { customField: 'plan', operator: 'exists' } }] }
    expect(resolved(rule)).toEqual(rule)
  })

  test.each<[Condition, object]>([
    [{ attribute: 'revenue', operator: 'exists' }, { currency: 'EUR' }],
    [{ attribute: 'revenue', operator: 'exists', currency: ' usd' }, { currency: 'USD' }],
    [{ event: 'a', metric: 'sum', property: 'value', operator: 'exists' }, { currency: 'EUR' }],
    [{ event: ' a ', metric: 'last', operator: 'exists' }, { event: 'a' }],
    [{ tag: '\u0085a ', operator: 'has' }, { tag: 'a' }],
    [{ attribute: 'email', operator: 'in', value: ['A@B.example', 'x'] }, { value: ['a@b.example', 'x'] }],
    [{ attribute: 'email', operator: 'ends_with', value: '@B.example' }, { value: '@b.example' }],
    [{ attribute: 'phone', operator: 'equals', value: '0176/12345678' }, { value: '4917612345678' }],
    [{ attribute: 'platformCustomerId', operator: 'not_equals', value: ' X ' }, { value: 'X' }],
  ])('%j: %j, and keeps what was written', (written, resolvedWords) => {
    expect(resolved(written, { currency: 'eur' })).toEqual({ ...written, ...resolvedWords, written })
  })

  test('a sum of another property, and a condition on revenue alone, has no currency', () => {
    const sum = { event: 'a', metric: 'sum', property: 'weight', operator: 'exists' }
    expect(resolved(sum)).toEqual(sum)
    const count = { event: 'a', metric: 'count', withinDays: 1, operator: 'exists' }
    expect(resolved(count)).toEqual(count)
  })

  test('puts the rules of segments in place, those of segments inside them too', () => {
    const vip: Rule = { tag: 'vip', operator: 'has' }
    const big: Rule = { all: [{ segment: 'vip', operator: 'is_not_member' }] }
    expect(resolved({ segment: 'big', operator: 'is_member' }, { segments: { vip, big } })).toEqual({
      segment: 'big',
      operator: 'is_member',
      rule: { all: [{ segment: 'vip', operator: 'is_not_member', rule: vip }] },
    })
  })

  test('a segment that does not exist is an error: the rule was checked', () => {
    const context = { segments: new Map(), currency: 'EUR', country: null }
    expect(() => resolveRule({ segment: 'gone', operator: 'is_member' }, context)).toThrow('gone')
  })
})

const NOW = Date.parse('2026-11-20T12:00:00Z')
const explain = (rule: unknown, facts: SegmentFacts, world: World = {}) =>
  explainRule(resolved(rule, world), facts, new Map(Object.entries(world.fields ?? {})), NOW)

describe('explainRule', () => {
  test('answers every group and condition', () => {
    const vip = { tag: 'vip', operator: 'has' }
    const bought = { event: 'purchase', metric: 'count', operator: 'greater_than', value: 1 }
    const rule = { all: [{ any: [vip, bought] }, { not: bought }] }
    expect(explain(rule, withEvent({ count: 2 }))).toEqual({
      all: [
        {
          any: [
            { ...vip, matches: false, seen: false },
            { ...bought, matches: true, seen: 2 },
          ],
          matches: true,
        },
        { not: { ...bought, matches: true, seen: 2 }, matches: false },
      ],
      matches: false,
    })
  })

  test('shows the rule as it was written', () => {
    const rule = { attribute: 'email', operator: 'equals', value: 'ANN@a.example' }
    const facts = factsOf({ identities: [{ kind: 'email', value: 'ann@a.example', proven: true }] })
    expect(explain(rule, facts)).toEqual({ ...rule, matches: true, seen: ['ann@a.example'] })
    const revenue = { attribute: 'revenue', operator: 'exists' }
    expect(explain(revenue, factsOf())).toEqual({ ...revenue, matches: false, seen: null })
  })

  test('shows a segment by whether the contact is in it', () => {
    const segments: Record<string, Rule> = { vip: { tag: 'vip', operator: 'has' } }
    const member = { segment: 'vip', operator: 'is_member' }
    const other = { segment: 'vip', operator: 'is_not_member' }
    const facts = factsOf({ tags: new Set(['vip']) })
    expect(explain({ all: [member, other] }, facts, { segments })).toEqual({
      all: [
        { ...member, matches: true, seen: true },
        { ...other, matches: false, seen: true },
      ],
      matches: false,
    })
  })

  const sum = { event: 'purchase', metric: 'sum', property: 'value', operator: 'less_than', value: 1 } as const
  const SEEN: [string, object, SegmentFacts, unknown][] = [
    ['a tag', { tag: 'vip', operator: 'has' }, factsOf({ tags: new Set(['vip']) }), true],
    ['no tag', { tag: 'vip', operator: 'has_not' }, factsOf(), false],
    [
      'a time',
      { event: 'purchase', metric: 'last', operator: 'exists' },
      withEvent({ lastAt: NOW }),
      '2026-11-20T12:00:00.000Z',
    ],
    ['no time', { event: 'purchase', metric: 'first', operator: 'not_exists' }, factsOf(), null],
    [
      'the first time',
      { event: 'purchase', metric: 'first', operator: 'within_days', value: 1 },
      withEvent({ firstAt: 1 }),
      '1970-01-01T00:00:00.001Z',
    ],
    ['a count', { event: 'purchase', metric: 'count', operator: 'exists' }, withEvent({ count: 7 }), 7],
    ['a sum', sum, factsOf({ windows: new Map([[windowKey({ ...sum, currency: 'EUR' }), '12.50']]) }), 12.5],
    ['no sum', sum, factsOf(), null],
    ['a text', { attribute: 'city', operator: 'equals', value: 'x' }, factsOf({ profile: { city: 'Bonn' } }), 'Bonn'],
    ['no text', { attribute: 'city', operator: 'not_equals', value: 'x' }, factsOf(), null],
    ['no email', { attribute: 'email', operator: 'exists' }, factsOf(), null],
    [
      'revenue',
      { attribute: 'revenue', operator: 'exists' },
      factsOf({ revenue: new Map([['EUR', '12.500000']]) }),
      12.5,
    ],
    ['no revenue', { attribute: 'revenue', operator: 'exists', currency: 'USD' }, factsOf(), null],
    ['orderCount', { attribute: 'orderCount', operator: 'exists' }, factsOf(), 0],
    [
      'the stage',
      { attribute: 'stage', operator: 'equals', value: 'Decision' },
      factsOf({ stage: 1 }),
      'Consideration',
    ],
    [
      'createdAt',
      { attribute: 'createdAt', operator: 'exists' },
      factsOf({ createdAt: NOW }),
      '2026-11-20T12:00:00.000Z',
    ],
    ['no consent', { attribute: 'subscribed', channel: 'sms', operator: 'is_true' }, factsOf(), false],
  ]
  test.each(SEEN)('shows %s', (_, rule, facts, seen) => {
    expect(explain(rule, facts)).toMatchObject({ seen })
  })

  test.each([
    ['Text', 'pro', { operator: 'equals', value: 'x' }, 'pro'],
    ['Text', 'pro', { operator: 'exists' }, 'pro'],
    ['Number', 1.5, { operator: 'less_than', value: 1 }, 1.5],
    ['Number', 1.5, { operator: 'exists' }, 1.5],
    ['Boolean', false, { operator: 'is_true' }, false],
    ['Boolean', false, { operator: 'exists' }, false],
    ['Date', '2026-11-20', { operator: 'within_days', value: 1 }, '2026-11-20T00:00:00.000Z'],
    ['Date', '2026-11-20T02:00+02:00', { operator: 'exists' }, '2026-11-20T00:00:00.000Z'],
    ['Text', null, { operator: 'not_exists' }, null],
    // Undefined when the type does not fit the condition.
    ['Number', 1.5, { operator: 'contains', value: 'x' }, null],
    ['Text', '2026-11-20', { operator: 'within_days', value: 1 }, null],
  ] as const)('shows a field of type %s with %j for %j', (type, value, words, seen) => {
    const rule = { customField: 'field', ...words }
    expect(explain(rule, withField(value), { fields: { field: type } })).toMatchObject({ ...rule, seen })
  })
})
