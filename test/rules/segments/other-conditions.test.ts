/** Booleans, stages, tags, segments, groups, and fields whose type does not fit the condition. */
import { describe, expect, test } from 'vitest'
import type { FieldType } from '../../../src/rules/events/facts.ts'
import { STAGES } from '../../../src/rules/events/journey-stage.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { factsOf, withEvent, withField } from './facts-of.ts'
import { holds } from './rule-of.ts'

const YES = { attribute: 'orderCount', operator: 'equals', value: 0 }
const NO = { attribute: 'orderCount', operator: 'equals', value: 1 }

test('groups: all, any, not', () => {
  const answers = (rule: unknown) => holds(rule, factsOf())
  expect([answers({ all: [YES] }), answers({ all: [YES, YES] }), answers({ all: [YES, NO] })]).toEqual([
    true,
    true,
    false,
  ])
  expect([answers({ any: [NO] }), answers({ any: [NO, YES] }), answers({ any: [NO, NO] })]).toEqual([
    false,
    true,
    false,
  ])
  expect([answers({ not: NO }), answers({ not: YES }), answers({ not: { not: YES } })]).toEqual([true, false, true])
})

describe('subscribed with a topic', () => {
  const gets = (topic: string, facts: SegmentFacts) =>
    holds({ attribute: 'subscribed', channel: 'email', topic, operator: 'is_true' }, facts, 0, {
      topics: {
        news: { channels: ['email'], defaultOn: true, isActive: true },
        offers: { channels: ['email'], defaultOn: false, isActive: true },
      },
    })
  const optIn = { email: { subscribed: true, at: 0 } }
  test('needs both, the channel and the topic: a choice, or its default', () => {
    expect([gets('news', factsOf()), gets('offers', factsOf())]).toEqual([false, false])
    const open = factsOf({ subscriptions: optIn })
    expect([gets('news', open), gets('offers', open)]).toEqual([true, false])
    const topics = { 'news email': { subscribed: false, at: 0 }, 'offers email': { subscribed: true, at: 0 } }
    const chosen = factsOf({ subscriptions: optIn, topics })
    expect([gets('news', chosen), gets('offers', chosen)]).toEqual([false, true])
    expect(gets('offers', factsOf({ topics }))).toBe(false)
  })
})

describe('subscribed', () => {
  const subscribed = (operator: string, channel = 'email') => ({ attribute: 'subscribed', operator, channel })
  test('is false, never undefined, without a record', () => {
    expect(holds(subscribed('is_true'), factsOf())).toBe(false)
    expect(holds(subscribed('is_false'), factsOf())).toBe(true)
    expect(holds(subscribed('exists'), factsOf())).toBe(true)
    expect(holds(subscribed('not_exists'), factsOf())).toBe(false)
  })

  test('is of one channel', () => {
    const facts = factsOf({ subscriptions: { sms: { subscribed: true, at: 0 }, email: { subscribed: false, at: 0 } } })
    expect(holds(subscribed('is_true', 'sms'), facts)).toBe(true)
    expect(holds(subscribed('is_false', 'sms'), facts)).toBe(false)
    expect(holds(subscribed('is_true', 'email'), facts)).toBe(false)
    expect(holds(subscribed('is_false', 'email'), facts)).toBe(true)
    expect(holds(subscribed('is_true', 'push'), facts)).toBe(false)
  })
})

describe('a boolean field', () => {
  const fields = { field: 'Boolean' } as const
  test.each([
    [true, { is_true: true, is_false: false, exists: true, not_exists: false }],
    [false, { is_true: false, is_false: true, exists: true, not_exists: false }],
    [null, { is_true: false, is_false: false, exists: false, not_exists: true }],
  ])('%s', (value, answers) => {
    for (const [operator, answer] of Object.entries(answers))
      expect(holds({ customField: 'field', operator }, withField(value), 0, { fields })).toBe(answer)
  })
})

describe('the stage', () => {
  const answers = (operator: string, value: unknown) =>
    STAGES.map((_, stage) => holds({ attribute: 'stage', operator, value }, factsOf({ stage })))
  test('is compared in the order of the stages', () => {
    expect(answers('equals', 'Decision')).toEqual([false, false, true, false, false])
    expect(answers('not_equals', 'Decision')).toEqual([true, true, false, true, true])
    expect(answers('at_least', 'Decision')).toEqual([false, false, true, true, true])
    expect(answers('at_most', 'Decision')).toEqual([true, true, true, false, false])
    expect(answers('at_least', 'Awareness')).toEqual([true, true, true, true, true])
    expect(answers('in', ['Advocacy', 'Awareness'])).toEqual([true, false, false, false, true])
  })
})

describe('names of the prototype', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s names nothing that is not there',
    (name) => {
      expect(holds({ event: name, metric: 'last', operator: 'exists' }, factsOf())).toBe(false)
      expect(holds({ tag: name, operator: 'has' }, factsOf())).toBe(false)
      expect(holds({ customField: name, operator: 'exists' }, factsOf())).toBe(false)
      expect(holds({ event: name, metric: 'count', operator: 'equals', value: 2 }, withEvent({ count: 2 }, name))).toBe(
        true,
      )
      expect(holds({ tag: name, operator: 'has' }, factsOf({ tags: new Set([name]) }))).toBe(true)
      expect(holds({ customField: name, operator: 'equals', value: 'x' }, withField('x', name))).toBe(true)
      const window = { event: name, metric: 'count', withinDays: 1, operator: 'not_exists' }
      expect(holds(window, factsOf())).toBe(true)
    },
  )
})

test('tags', () => {
  const facts = factsOf({ tags: new Set(['vip']) })
  expect(holds({ tag: 'vip', operator: 'has' }, facts)).toBe(true)
  expect(holds({ tag: ' vip ', operator: 'has' }, facts)).toBe(true)
  expect(holds({ tag: 'VIP', operator: 'has' }, facts)).toBe(false)
  expect(holds({ tag: 'vip', operator: 'has_not' }, facts)).toBe(false)
  expect(holds({ tag: 'other', operator: 'has_not' }, facts)).toBe(true)
})

test('events are named as they are stored, trimmed', () => {
  expect(holds({ event: ' purchase\u0085', metric: 'last', operator: 'exists' }, withEvent({}))).toBe(true)
  expect(holds({ event: 'Purchase', metric: 'last', operator: 'exists' }, withEvent({}))).toBe(false)
})

test('segments are evaluated by their rules, segments inside segments too', () => {
  const segments: Record<string, Rule> = {
    vip: { tag: 'vip', operator: 'has' },
    others: { segment: 'vip', operator: 'is_not_member' },
  }
  const vip = factsOf({ tags: new Set(['vip']) })
  const is = (segment: string, operator: string, facts = vip) => holds({ segment, operator }, facts, 0, { segments })
  expect([is('vip', 'is_member'), is('vip', 'is_not_member')]).toEqual([true, false])
  expect([is('others', 'is_member'), is('others', 'is_not_member')]).toEqual([false, true])
  expect(is('others', 'is_member', factsOf())).toBe(true)
})

describe('a field of another type than the condition needs', () => {
  const CONDITIONS: [FieldType, object][] = [
    ['Number', { operator: 'greater_than', value: 0 }],
    ['Number', { operator: 'not_equals', value: 0 }],
    ['Text', { operator: 'equals', value: 'x' }],
    ['Text', { operator: 'not_equals', value: 'z' }],
    ['Text', { operator: 'in', value: ['x'] }],
    ['Boolean', { operator: 'is_true' }],
    ['Date', { operator: 'after', value: '2000-01-01' }],
    ['Date', { operator: 'within_days', value: 36_500 }],
  ]
  const VALUES: Record<FieldType, string | number | boolean> = {
    Number: 1,
    Text: 'x',
    Boolean: true,
    Date: '2026-11-20',
  }
  const NOW = Date.parse('2026-11-21T00:00:00Z')

  test.each(CONDITIONS)('%s: %j is undefined for all others', (needed, words) => {
    for (const [type, value] of Object.entries(VALUES) as [FieldType, string][]) {
      const answer = holds({ customField: 'field', ...words }, withField(value), NOW, { fields: { field: type } })
      expect([type, answer]).toEqual([type, type === needed])
    }
  })

  test('exists and not_exists need no type', () => {
    for (const [type, value] of Object.entries(VALUES) as [FieldType, string][]) {
      const world = { fields: { field: type } }
      expect(holds({ customField: 'field', operator: 'exists' }, withField(value), 0, world)).toBe(true)
      expect(holds({ customField: 'field', operator: 'not_exists' }, withField(value), 0, world)).toBe(false)
      expect(holds({ customField: 'field', operator: 'not_exists' }, withField(null), 0, world)).toBe(true)
    }
  })

  test('a field that is not in the list yet has the type of its first value', () => {
    for (const [needed, words] of CONDITIONS)
      for (const [type, value] of Object.entries(VALUES))
        expect(holds({ customField: 'field', ...words }, withField(value), NOW)).toBe(type === needed)
  })

  test('a stored value that does not fit the type of its field is undefined', () => {
    const answers = (type: FieldType, value: string | number | boolean, words: object) =>
      holds({ customField: 'field', ...words }, withField(value), NOW, { fields: { field: type } })
    expect(answers('Number', 'x', { operator: 'not_equals', value: 1 })).toBe(false)
    expect(answers('Text', 1, { operator: 'not_equals', value: 'x' })).toBe(false)
    expect(answers('Boolean', 'true', { operator: 'is_false' })).toBe(false)
    expect(answers('Date', 'soon', { operator: 'after', value: '2000-01-01' })).toBe(false)
    expect(answers('Date', 5, { operator: 'after', value: '2000-01-01' })).toBe(false)
  })
})
