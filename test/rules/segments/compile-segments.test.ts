import { describe, expect, test } from 'vitest'
import { type SegmentRule, compileSegments } from '../../../src/rules/segments/compile/compile-segments.ts'
import { dependsOn, isTimed, readsOf } from '../../../src/rules/segments/membership/reads-of.ts'
import { ruleWarnings } from '../../../src/rules/segments/reading/rule-warnings.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { windowKey } from '../../../src/rules/segments/windows/window-key.ts'
import { factsOf, withField } from './facts-of.ts'
import { resolved } from './rule-of.ts'

const DAY = 86_400_000
const bought = { event: 'purchase', metric: 'last', operator: 'within_days', value: 30 } as const
const vip = { tag: 'vip', operator: 'has' } as const
const window = { event: 'visit', metric: 'count', operator: 'exists', withinDays: 7 } as const
const segments: Record<string, Rule> = { vip, both: { all: [{ segment: 'vip', operator: 'is_member' }, bought] } }
const both = { segment: 'both', operator: 'is_member' } as const

const segmentRule = (no: number, raw: unknown, isBuilding = false): SegmentRule => ({
  no,
  segmentId: `segment ${no}`,
  isBuilding,
  rule: resolved(raw, { segments }),
})
const compile = (...rules: unknown[]) =>
  compileSegments(
    rules.map((raw, no) => segmentRule(no, raw)),
    new Map(),
  )
const nosOf = (segments: { no: number }[] = []) => segments.map(({ no }) => no)

describe('what a rule reads', () => {
  test.each<[unknown, string[]]>([
    [bought, ['event:purchase']],
    [{ ...bought, metric: 'count', operator: 'exists', value: null }, ['event:purchase']],
    [window, [`window:${windowKey(window)}`]],
    [{ customField: 'plan', operator: 'exists' }, ['field:plan']],
    [vip, ['tag:vip']],
    [{ attribute: 'country', operator: 'exists' }, ['profile:country']],
    [{ attribute: 'phone', operator: 'exists' }, ['identity:phone']],
    [{ attribute: 'platformCustomerId', operator: 'exists' }, ['identity:platformCustomerId']],
    [{ attribute: 'stage', operator: 'equals', value: 'Decision' }, ['stage']],
    [{ attribute: 'revenue', operator: 'exists' }, ['revenue:EUR']],
    [{ attribute: 'revenue', operator: 'exists', currency: 'usd' }, ['revenue:USD']],
    [{ attribute: 'orderCount', operator: 'exists' }, ['orders']],
    [{ attribute: 'createdAt', operator: 'exists' }, []],
    [{ attribute: 'subscribed', channel: 'sms', operator: 'is_true' }, ['subscription:sms']],
    [
      { attribute: 'subscribed', channel: 'sms', topic: 'news', operator: 'is_true' },
      ['subscription:sms', 'topic:news sms'],
    ],
    [both, ['tag:vip', 'event:purchase']],
    [{ any: [vip, { not: { all: [vip, both] } }] }, ['tag:vip', 'event:purchase']],
  ])('%j', (raw, keys) => {
    expect([...readsOf(resolved(raw, { segments }))]).toEqual(keys)
  })

  test('the segments that it names itself', () => {
    const member: Rule = { segment: 'vip', operator: 'is_member' }
    expect(dependsOn({ any: [both, { not: member }, member] })).toEqual(['both', 'vip'])
    expect(dependsOn(vip)).toEqual([])
  })

  test('whether time alone can change the answer', () => {
    const isTimedRule = (raw: unknown) => isTimed(resolved(raw, { segments }))
    expect(isTimedRule(bought)).toBe(true)
    expect(isTimedRule({ ...bought, operator: 'older_than_days' })).toBe(true)
    expect(isTimedRule({ customField: 'renewal', operator: 'within_next_days', value: 1 })).toBe(true)
    expect(isTimedRule({ not: { all: [vip, both] } })).toBe(true)
    expect(isTimedRule({ ...bought, operator: 'before', value: '2026-01-01' })).toBe(false)
    expect(isTimedRule(window)).toBe(false)
    expect(isTimedRule(vip)).toBe(false)
  })
})

describe('compileSegments', () => {
  test('gives an empty set for no rules', () => {
    const watched = { events: [], fields: [], tags: [], revenue: false, windows: false }
    const none = { all: [], timed: [], byNumber: new Map(), timedBy: new Set(), byFact: new Map(), ofNewContacts: [] }
    const empty = { ...none, timesOf: new Map(), windows: new Map(), windowEvents: new Set() }
    expect(compile()).toEqual({ ...empty, watched })
  })

  test('keeps whose rule it is, and finds rules by the facts that they read', () => {
    const compiled = compileSegments(
      [segmentRule(7, both), segmentRule(8, vip, true), segmentRule(9, window)],
      new Map(),
    )
    expect(compiled.all).toMatchObject([
      { no: 7, segmentId: 'segment 7', isBuilding: false, isTimed: true },
      { no: 8, segmentId: 'segment 8', isBuilding: true, isTimed: false },
      { no: 9, segmentId: 'segment 9', isBuilding: false, isTimed: false },
    ])
    expect(nosOf(compiled.timed)).toEqual([7])
    expect([...compiled.timesOf]).toEqual([['event:purchase', ['last:purchase']]])
    expect(nosOf(compiled.byFact.get('tag:vip'))).toEqual([7, 8])
    expect(nosOf(compiled.byFact.get('event:purchase'))).toEqual([7])
    expect(nosOf(compiled.byFact.get(`window:${windowKey(window)}`))).toEqual([9])
    expect(compiled.byFact.size).toBe(3)
    expect(compiled.byNumber.get(8)).toBe(compiled.all[1])
    expect([...compiled.timedBy]).toEqual(['last:purchase'])
    expect(compiled.all.map(({ reads, timedBy }) => [[...reads], [...timedBy]])).toEqual([
      [['tag:vip', 'event:purchase'], ['last:purchase']],
      [['tag:vip'], []],
      [[`window:${windowKey(window)}`], []],
    ])
  })

  test('says what is watched, sorted', () => {
    const rules = [{ tag: 'x', operator: 'has' }, vip, both, { customField: '__proto__', operator: 'exists' }]
    expect(compile(...rules, window, { attribute: 'revenue', operator: 'exists' }).watched).toEqual({
      events: ['purchase'],
      fields: ['__proto__'],
      tags: ['vip', 'x'],
      revenue: true,
      windows: true,
    })
    // A name may contain the separator between kind and name.
    expect(compile({ tag: 'event:x', operator: 'has' }).watched).toMatchObject({ events: [], tags: ['event:x'] })
  })

  test.each([
    [true, { tag: 'vip', operator: 'has_not' }],
    [true, { ...bought, operator: 'not_exists', value: null }],
    [true, { not: { all: [vip, bought] } }],
    [true, { attribute: 'orderCount', operator: 'less_than', value: 1 }],
    [true, { attribute: 'subscribed', channel: 'sms', operator: 'is_false' }],
    [true, { attribute: 'createdAt', operator: 'older_than_days', value: 1 }],
    [true, { all: [vip, { attribute: 'stage', operator: 'at_most', value: 'Awareness' }] }],
    [true, { any: [vip, { segment: 'vip', operator: 'is_not_member' }] }],
    [false, vip],
    [false, both],
    [false, { ...bought, metric: 'count', operator: 'not_equals', value: 1 }],
    [false, { attribute: 'email', operator: 'exists' }],
  ])('is evaluated for a new contact: %s %j', (isOfNew, raw) => {
    expect(nosOf(compile(raw).ofNewContacts)).toEqual(isOfNew ? [0] : [])
  })

  test('reads the types of fields when it evaluates', () => {
    const fields = new Map<string, 'Text' | 'Date'>([['field', 'Text']])
    const rule = segmentRule(1, { customField: 'field', operator: 'equals', value: '2026-11-20' })
    const [segment] = compileSegments([rule], fields).all
    expect(segment?.test(withField('2026-11-20'), 0)).toBe(true)
    fields.set('field', 'Date')
    expect(segment?.test(withField('2026-11-20'), 0)).toBe(false)
  })
})

describe('what fixes a change by time', () => {
  const older = { event: 'visit', metric: 'first', operator: 'older_than_days', value: 1 }
  const created = { attribute: 'createdAt', operator: 'older_than_days', value: 2 }
  const renewal = { customField: 'renewal', operator: 'within_next_days', value: 2 }
  const facts = factsOf({
    statistics: new Map([
      ['purchase', { firstAt: 0, lastAt: 0, count: 1 }],
      ['visit', { firstAt: 29 * DAY, lastAt: 30 * DAY, count: 1 }],
    ]),
    createdAt: 28 * DAY,
    traits: new Map([['renewal', [0, JSON.stringify(new Date(32 * DAY + 1).toISOString())]]]),
  })
  const fixedBy = (raw: unknown, at: number) => compile(raw).all.flatMap((segment) => segment.fixedBy(facts, at))
  const rule = { all: [bought, older, created, renewal, vip] }

  test('are the conditions that change at that very instant, whatever the others say', () => {
    expect(fixedBy(rule, 30 * DAY + 1)).toEqual(['last:purchase', 'first:visit', 'createdAt', 'field:renewal'])
    expect(fixedBy(rule, 30 * DAY)).toEqual([])
    expect(fixedBy(rule, 30 * DAY + 2)).toEqual([])
    expect(fixedBy(rule, 32 * DAY + 2)).toEqual(['field:renewal'])
  })

  test('are those of inner segments too', () => {
    expect(fixedBy(both, 30 * DAY + 1)).toEqual(['last:purchase'])
    expect([...compile(both, rule).timedBy]).toEqual(['last:purchase', 'first:visit', 'createdAt', 'field:renewal'])
  })
})

describe('warnings', () => {
  const fields = new Map([
    ['plan', 'Number'],
    ['age', 'Number'],
  ] as const)
  test('name the conditions whose field came later with another type', () => {
    const plan = (words: object): Rule => ({ customField: 'plan', ...words }) as Rule
    const rule: Rule = {
      all: [
        plan({ operator: 'equals', value: 'pro' }),
        { any: [plan({ operator: 'is_true' }), plan({ operator: 'equals', value: 1 }), plan({ operator: 'exists' })] },
        { not: { customField: 'unknown', operator: 'is_true' } },
        vip,
      ],
    }
    const warnings = ruleWarnings(rule, fields)
    expect(warnings.map(({ path }) => path)).toEqual(['rule.all[0].operator', 'rule.all[1].any[0].operator'])
    expect(warnings[0]?.message).toBe(
      'rule.all[0].operator is never true: the custom field plan is of type Number, not Text',
    )
  })

  test.each<[string, unknown, string]>([
    ['within_days', 1, 'Date'],
    ['before', '2026-01-01', 'Date'],
    ['within_next_days', 1, 'Date'],
    ['contains', 'x', 'Text'],
    ['in', ['x'], 'Text'],
    ['not_equals', 'x', 'Text'],
    ['is_false', undefined, 'Boolean'],
  ])('%s needs another type than Number', (operator, value, type) => {
    const [warning] = ruleWarnings({ customField: 'age', operator, value } as Rule, fields)
    expect(warning?.message).toContain(`not ${type}`)
  })

  test.each(['not_exists', 'between', 'greater_than', 'less_than_or_equal', 'not_equals'])(
    '%s does not',
    (operator) => {
      expect(ruleWarnings({ customField: 'age', operator, value: 1 } as Rule, fields)).toEqual([])
    },
  )
})

describe('windowKey', () => {
  const where = [
    { property: 'a', operator: 'equals', value: 'x' },
    { property: 'b', operator: 'exists' },
  ] as const
  const key = (words: object) => windowKey({ ...window, ...words })

  test('is the same whatever the window is compared with, and in whatever order it is written', () => {
    expect(key({ operator: 'between', value: [1, 2] })).toBe(key({}))
    expect(key({ where: where.toReversed() })).toBe(key({ where }))
    expect(key({ where: [{ value: 'x', operator: 'equals', property: 'a', ignoreCase: false }] })).toBe(
      key({ where: [where[0]] }),
    )
    expect(key({ where: [] })).toBe(key({}))
  })

  test('differs with everything that the answer depends on', () => {
    const keys = [
      {},
      { event: 'other' },
      { withinDays: 8 },
      { withinDays: undefined },
      { metric: 'sum', property: 'value' },
      { metric: 'sum', property: 'value', currency: 'EUR' },
      { metric: 'sum', property: 'other' },
      { where },
      { where: [where[0]] },
      { where: [{ ...where[0], value: 'y' }] },
      { where: [{ ...where[0], ignoreCase: true }] },
      { where: [{ ...where[0], operator: 'contains' }] },
    ].map(key)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('is JSON of the words', () => {
    expect(JSON.parse(key({ where: [where[0]] }))).toEqual({
      event: 'visit',
      metric: 'count',
      withinDays: 7,
      where: [where[0]],
    })
  })
})
