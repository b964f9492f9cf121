import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FieldType } from '../../../src/rules/events/facts.ts'
import { type RuleContext, readRule } from '../../../src/rules/segments/reading/read-rule.ts'
import { ATTRIBUTES } from '../../../src/rules/segments/grammar/attributes.ts'
import { runs } from '../../support/runs.ts'
import { ruleOf, segmentsOf } from './worlds.ts'

const CONTEXT: RuleContext = {
  fields: new Map<string, FieldType>([
    ['plan', 'Text'],
    ['age', 'Number'],
    ['vip', 'Boolean'],
    ['renewal', 'Date'],
  ]),
  segments: new Map([['known', { tag: 'vip', operator: 'has' }]]),
  topics: new Map([['news', { channels: ['email'], defaultOn: false, isActive: false }]]),
}
const TAG = { tag: 'vip', operator: 'has' }

/** Returns the paths of the faults; empty when the rule has none. */
function faultsOf(raw: unknown): string[] {
  const read = readRule(raw, CONTEXT)
  return 'faults' in read ? read.faults.map(({ path }) => path) : []
}
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)
const bytesOf = (raw: unknown): number => new TextEncoder().encode(JSON.stringify(raw)).length

describe('rules of every form are returned as they were written', () => {
  test.each([
    { event: 'purchase', metric: 'last', operator: 'within_days', value: 30 },
    { event: 'purchase', metric: 'first', operator: 'before', value: '2026-11-20' },
    { event: 'purchase', metric: 'last', operator: 'not_exists' },
    { event: 'purchase', metric: 'count', operator: 'between', value: [2, 5] },
    { event: 'purchase', metric: 'count', operator: 'equals', value: 1, withinDays: 7.5 },
    { event: 'purchase', metric: 'count', operator: 'exists', where: [] },
    { event: 'purchase', metric: 'sum', property: 'value', operator: 'greater_than', value: '10.50', currency: 'usd' },
    { event: 'purchase', metric: 'sum', property: 'item.weight\\.kg', operator: 'less_than', value: 3 },
    {
      event: 'purchase',
      metric: 'count',
      operator: 'exists',
      where: [
        { property: 'items[0].category', operator: 'in', value: ['shoes'], ignoreCase: true },
        { property: 'size', operator: 'equals', value: 42 },
        { property: 'gift', operator: 'is_true' },
        { property: 'value', operator: 'between', value: [1, 2] },
        { property: 'type', operator: 'equals', value: 'refund' },
      ],
    },
    { customField: 'plan', operator: 'in', value: ['pro', 'max'], ignoreCase: false },
    { customField: 'age', operator: 'greater_than_or_equal', value: 18 },
    { customField: 'vip', operator: 'is_false' },
    { customField: 'renewal', operator: 'within_next_days', value: 14 },
    TAG,
    { tag: 'vip', operator: 'has_not' },
    { attribute: 'country', operator: 'in', value: ['DE', 'AT'] },
    { attribute: 'email', operator: 'equals', value: ' Ann@Example.com' },
    { attribute: 'phone', operator: 'not_equals', value: '0176 12345678' },
    { attribute: 'platformCustomerId', operator: 'starts_with', value: 'A', ignoreCase: true },
    { attribute: 'stage', operator: 'at_least', value: 'Decision' },
    { attribute: 'stage', operator: 'in', value: ['Decision', 'Advocacy'] },
    { attribute: 'revenue', operator: 'greater_than', value: '0.000001', currency: 'EUR' },
    { attribute: 'orderCount', operator: 'equals', value: 0 },
    { attribute: 'createdAt', operator: 'older_than_days', value: 1 },
    { attribute: 'subscribed', operator: 'is_true', channel: 'push' },
    { segment: 'known', operator: 'is_not_member' },
    { all: [TAG, { any: [TAG] }, { not: TAG }] },
    // Names of things that do not exist yet.
    { event: 'never sent', metric: 'count', operator: 'less_than', value: -1.5 },
    { customField: 'later', operator: 'within_days', value: 1 },
    { customField: 'later', operator: 'equals', value: 5 },
    { customField: 'later', operator: 'equals', value: 'x', ignoreCase: true },
    { customField: '__proto__', operator: 'exists' },
    { tag: 'constructor', operator: 'has' },
    { event: '__proto__', metric: 'last', operator: 'exists' },
  ])('%j', (raw) => {
    const read = readRule(raw, CONTEXT)
    expect(JSON.stringify(read)).toBe(JSON.stringify({ rule: raw }))
  })

  test('null in an optional word counts as not sent', () => {
    const given = { ...TAG, value: null }
    expect(readRule({ all: [given] }, CONTEXT)).toEqual({ rule: { all: [TAG] } })
    const revenue = { attribute: 'revenue', operator: 'equals', value: 1 }
    expect(readRule({ ...revenue, currency: null, ignoreCase: null }, CONTEXT)).toEqual({ rule: revenue })
    const count = { event: 'purchase', metric: 'count', operator: 'exists' }
    expect(readRule({ ...count, withinDays: null, where: null }, CONTEXT)).toEqual({ rule: count })
  })

  test('the word of any text may be kept in any letter', () => {
    const raw = JSON.parse('{"tag":"null","operator":"has"}') as unknown
    expect(readRule(raw, CONTEXT)).toEqual({ rule: { tag: 'null', operator: 'has' } })
  })
})

describe('what is not a rule', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'all'],
    ['a number', 1],
    ['a list', [TAG]],
    ['an empty object', {}],
    ['none of the words', { operator: 'has' }],
    ['two of the words', { ...TAG, event: 'purchase' }],
    ['two groups', { all: [TAG], any: [TAG] }],
    ['a group and a condition', { ...TAG, not: TAG }],
    ['a second word that is null', { ...TAG, event: null }],
    ['only inherited words', Object.create({ tag: 'vip', operator: 'has' }) as unknown],
    ['a word in another case', { Tag: 'vip', operator: 'has' }],
  ])('%s is a fault at the rule', (_, raw: unknown) => {
    expect(faultsOf(raw)).toEqual(['rule'])
    expect(faultsOf({ all: [TAG, { any: [raw] }] })).toEqual(['rule.all[1].any[0]'])
    expect(faultsOf({ not: raw })).toEqual(['rule.not'])
  })

  test.each([
    ['all', {}],
    ['all', null],
    ['all', []],
    ['any', 'x'],
    ['any', []],
  ])('a group %s of %j is a fault there', (word, value) => {
    expect(faultsOf({ [word]: value })).toEqual([`rule.${word}`])
  })
})

describe('unknown words', () => {
  test.each([
    [{ ...TAG, foo: 1 }, 'rule.foo'],
    [{ ...TAG, value: true }, 'rule.value'],
    [{ ...TAG, ignoreCase: true }, 'rule.ignoreCase'],
    [{ all: [TAG], operator: 'has' }, 'rule.operator'],
    [{ not: TAG, name: null }, 'rule.name'],
    [{ segment: 'known', operator: 'is_member', value: 1 }, 'rule.value'],
    [{ customField: 'plan', operator: 'exists', value: 'pro' }, 'rule.value'],
    [{ customField: 'plan', operator: 'exists', ignoreCase: true }, 'rule.ignoreCase'],
    [{ customField: 'age', operator: 'equals', value: 1, ignoreCase: true }, 'rule.ignoreCase'],
    [{ customField: 'vip', operator: 'is_true', value: true }, 'rule.value'],
    [{ attribute: 'stage', operator: 'equals', value: 'Decision', ignoreCase: true }, 'rule.ignoreCase'],
    [{ attribute: 'orderCount', operator: 'equals', value: 1, currency: 'EUR' }, 'rule.currency'],
    [{ attribute: 'country', operator: 'exists', channel: 'sms' }, 'rule.channel'],
    [{ event: 'purchase', metric: 'count', operator: 'exists', property: 'value' }, 'rule.property'],
    [{ event: 'purchase', metric: 'count', operator: 'exists', withinDays: 1, property: 'x' }, 'rule.property'],
    [{ event: 'purchase', metric: 'count', operator: 'exists', withinDays: 1, currency: 'EUR' }, 'rule.currency'],
    [{ event: 'purchase', metric: 'sum', operator: 'exists', property: 'x', currency: 'EUR' }, 'rule.currency'],
    [{ event: 'purchase', metric: 'last', operator: 'exists', within_days: 3 }, 'rule.within_days'],
    [
      { event: 'a', metric: 'count', operator: 'exists', where: [{ property: 'x', operator: 'exists', a: 1 }] },
      'rule.where[0].a',
    ],
  ])('%j has a fault at %s', (raw, path) => {
    expect(faultsOf(raw)).toEqual([path])
  })

  test('include those of the prototype', () => {
    const raw = JSON.parse('{"tag":"vip","operator":"has","__proto__":{"a":1},"constructor":null}') as unknown
    expect(faultsOf(raw)).toEqual(['rule.__proto__', 'rule.constructor'])
  })

  test('are shown so that the answer can hold them', () => {
    const [path = ''] = faultsOf({ ...TAG, [`\0\ud800${'x'.repeat(500)}`]: 1 })
    expect(path).toBe(`rule.\ufffd\ufffd${'x'.repeat(62)}`)
  })
})

describe('names', () => {
  const WORDS = [
    ['event', { metric: 'last', operator: 'exists' }],
    ['tag', { operator: 'has' }],
    ['customField', { operator: 'exists' }],
  ] as const
  test.each(WORDS)('%s is 1 to 64 characters of text that can be stored', (word, words) => {
    for (const name of ['x', ' x ', 'x'.repeat(64), ` ${'x'.repeat(64)} `, '😀'.repeat(32)])
      expect(faultsOf({ [word]: name, ...words })).toEqual([])
    for (const name of ['', ' ', '\u0085', 'x'.repeat(65), '😀'.repeat(33), 'a\0', '\ud800', 1, null, ['x'], {}])
      expect(faultsOf({ [word]: name, ...words })).toEqual([`rule.${word}`])
  })

  test.each(['', 'Country', 'constructor', '__proto__', 'toString', 1, null])('%j is not an attribute', (attribute) => {
    expect(faultsOf({ attribute, operator: 'exists' })).toEqual(['rule.attribute'])
  })
})

describe('operators', () => {
  const DATE = ['exists', 'not_exists', 'within_days', 'older_than_days', 'before', 'after']
  const ORDER = ['greater_than', 'greater_than_or_equal', 'less_than', 'less_than_or_equal', 'between']
  const NUMBER = ['equals', 'not_equals', ...ORDER, 'exists', 'not_exists']
  const TEXT = ['equals', 'not_equals', 'contains', 'starts_with', 'ends_with', 'in', 'exists', 'not_exists']
  const BOOLEAN = ['is_true', 'is_false', 'exists', 'not_exists']
  const STAGE = ['equals', 'not_equals', 'in', 'at_least', 'at_most']
  const ALL = [...new Set([...DATE, ...NUMBER, ...TEXT, ...BOOLEAN, ...STAGE])]
  const OTHERS = ['within_next_days', 'has', 'has_not', 'is_member', 'is_not_member', 'Equals', '', 'constructor']

  const OF_TYPES = { text: TEXT, number: NUMBER, date: DATE, boolean: BOOLEAN, stage: STAGE }
  const CASES: [string, object, string[]][] = [
    ['the time of an event', { event: 'a', metric: 'last' }, DATE],
    ['the count of an event', { event: 'a', metric: 'count' }, NUMBER],
    ['a windowed count', { event: 'a', metric: 'count', withinDays: 1 }, NUMBER],
    ['a sum', { event: 'a', metric: 'sum', property: 'x' }, NUMBER],
    ['a text field', { customField: 'plan' }, TEXT],
    ['a number field', { customField: 'age' }, NUMBER],
    ['a boolean field', { customField: 'vip' }, BOOLEAN],
    ['a date field', { customField: 'renewal' }, [...DATE, 'within_next_days']],
    ['a field of no type yet', { customField: 'later' }, [...DATE, ...NUMBER, ...TEXT, ...BOOLEAN, 'within_next_days']],
    ['a tag', { tag: 'vip' }, ['has', 'has_not']],
    ['a segment', { segment: 'known' }, ['is_member', 'is_not_member']],
    ...Object.entries(ATTRIBUTES).map(([attribute, type]): [string, object, string[]] => [
      attribute,
      { attribute, ...(attribute === 'subscribed' && { channel: 'sms' }) },
      OF_TYPES[type],
    ]),
  ]
  test.each(CASES)('%s', (_, words, suited) => {
    for (const operator of [...ALL, ...OTHERS]) {
      // Whatever the value is: this test only looks at the operator.
      const isFault = faultsOf({ ...words, operator }).includes('rule.operator')
      expect([operator, isFault]).toEqual([operator, !suited.includes(operator)])
    }
    for (const operator of [undefined, null, 1, ['equals']])
      expect(faultsOf({ ...words, operator })).toEqual(['rule.operator'])
  })

  test('the path leads to the operator', () => {
    const wrong = { customField: 'plan', operator: 'greater_than', value: 1 }
    expect(faultsOf({ all: [TAG, { any: [wrong] }] })).toEqual(['rule.all[1].any[0].operator'])
    expect(faultsOf({ not: { all: [wrong, wrong] } })).toEqual(['rule.not.all[0].operator', 'rule.not.all[1].operator'])
  })

  test.each([undefined, null, 'average', 'Last', 1])('%j is not a metric', (metric) => {
    expect(faultsOf({ event: 'a', metric, operator: 'exists' })).toEqual(['rule.metric'])
  })

  test.each([{ withinDays: 1 }, { where: [] }])('first and last have no window: %j', (words) => {
    expect(faultsOf({ event: 'a', metric: 'last', operator: 'exists', ...words })).toEqual(['rule.metric'])
  })

  test('subscribed needs a channel', () => {
    for (const channel of [undefined, null, 'fax', 1])
      expect(faultsOf({ attribute: 'subscribed', operator: 'is_true', channel })).toEqual(['rule.channel'])
  })

  test('a topic belongs to subscribed, is one of the business, and has the channel', () => {
    const subscribed = (channel: string, topic: unknown) =>
      faultsOf({ attribute: 'subscribed', operator: 'is_true', channel, topic })
    expect(subscribed('email', 'news')).toEqual([])
    expect(subscribed('email', null)).toEqual([])
    expect(subscribed('sms', 'news')).toEqual(['rule.topic'])
    expect(subscribed('email', 'other')).toEqual(['rule.topic'])
    expect(subscribed('email', 1)).toEqual(['rule.topic'])
    expect(faultsOf({ attribute: 'city', operator: 'exists', topic: 'news' })).toEqual(['rule.topic'])
  })
})

describe('values', () => {
  const isFine = (words: object, values: unknown[]) => {
    for (const value of values) expect([value, faultsOf({ ...words, value })]).toEqual([value, []])
  }
  const isFault = (words: object, values: unknown[], path = 'rule.value') => {
    for (const value of values) expect([value, faultsOf({ ...words, value })]).toEqual([value, [path]])
  }

  test('days are above 0 and at most 36,500, decimals allowed', () => {
    const words = { event: 'a', metric: 'last', operator: 'within_days' }
    isFine(words, [30, 0.5, 36_500, 5e-324])
    isFault(words, [0, -1, 36_500.1, 36_501, Infinity, NaN, '30', [30], null, undefined, true, {}])
    for (const withinDays of [30, 0.5, 36_500])
      expect(faultsOf({ event: 'a', metric: 'count', operator: 'exists', withinDays })).toEqual([])
    for (const withinDays of [0, -1, 36_500.1, '30', [], {}, false])
      expect(faultsOf({ event: 'a', metric: 'count', operator: 'exists', withinDays })).toEqual(['rule.withinDays'])
  })

  test('instants are the strings of occurredAt', () => {
    const words = { event: 'a', metric: 'last', operator: 'before' }
    isFine(words, [
      '2026-11-20',
      '2026-11-20T10:00Z',
      '2026-11-20T10:00:00.123+02:00',
      '20261120T100000Z',
      '9999-12-31',
    ])
    isFault(words, ['2026-02-30', 'today', '', '2026', 1_795_000_000_000, null, undefined, ['2026-11-20']])
  })

  test('numbers are finite JSON numbers', () => {
    for (const words of [
      { event: 'a', metric: 'count', operator: 'equals' },
      { customField: 'age', operator: 'less_than' },
      { attribute: 'orderCount', operator: 'not_equals' },
    ]) {
      isFine(words, [0, -1, 0.5, 1e300])
      isFault(words, ['1', '', null, undefined, true, [1], Infinity, NaN, {}])
    }
  })

  test('amounts may be decimal strings', () => {
    for (const words of [
      { attribute: 'revenue', operator: 'equals' },
      { event: 'a', metric: 'sum', property: 'value', operator: 'equals' },
    ]) {
      isFine(words, [0, -1.5, '0', '-0.000001', '1000000000000000.000001', '007', '9'.repeat(64)])
      isFault(words, ['', '1e3', '+1', '.5', '1.', '1,5', ' 1', '0x1', 'NaN', '9'.repeat(65), null, ['1'], '1\n'])
    }
    isFine({ attribute: 'revenue', operator: 'between' }, [
      ['0.1', 0.1],
      [0.1, '0.10'],
      ['-5', 5],
    ])
    isFault({ attribute: 'revenue', operator: 'between' }, [
      ['1000000000000000.000001', 1e15],
      ['b', 'a'],
    ])
  })

  test('a range is two numbers, the lesser first', () => {
    const words = { event: 'a', metric: 'count', operator: 'between' }
    isFine(words, [
      [2, 5],
      [2, 2],
      [-1, 0],
      [-0, 0],
    ])
    isFault(words, [[5, 2], [2], [], [1, 2, 3], ['1', '2'], [1, null], { from: 1, to: 2 }, 2, null, [1, Infinity]])
  })

  test('a text is 1 to 4,096 characters that can be stored', () => {
    const words = { attribute: 'city', operator: 'contains' }
    isFine(words, ['x', ' ', 'x'.repeat(4096), '😀'.repeat(2048)])
    isFault(words, ['', 'x'.repeat(4097), 'a\0', '\udc00', 1, true, null, undefined, ['x'], {}])
  })

  test('a list of texts is 1 to 500 of them', () => {
    const words = { attribute: 'city', operator: 'in' }
    isFine(words, [['x'], times(500, 'x'), ['x', 'x'.repeat(4096)]])
    isFault(words, [[], times(501, 'x'), 'x', null, undefined, { 0: 'x' }])
    isFault(
      words,
      [
        ['x', ''],
        ['x', 'x'.repeat(4097)],
        ['x', 1],
        ['x', null],
        ['x', ['y']],
      ],
      'rule.value[1]',
    )
  })

  test('stages are named as they are', () => {
    isFine({ attribute: 'stage', operator: 'equals' }, ['Awareness', 'Advocacy'])
    isFault({ attribute: 'stage', operator: 'at_most' }, ['awareness', '', 0, null, undefined, ['Awareness']])
    isFine({ attribute: 'stage', operator: 'in' }, [['Awareness'], ['Awareness', 'Awareness']])
    isFault({ attribute: 'stage', operator: 'in' }, [[], 'Awareness', null])
    isFault(
      { attribute: 'stage', operator: 'in' },
      [
        ['Awareness', 'x'],
        ['Awareness', null],
      ],
      'rule.value[1]',
    )
  })

  test('a field that does not exist yet may have the type that its operator and value need', () => {
    isFine({ customField: 'later', operator: 'equals' }, [1, 'x'])
    isFault({ customField: 'later', operator: 'equals' }, [true, null, undefined, ['x'], {}])
    isFault({ customField: 'later', operator: 'greater_than' }, ['x'])
    isFault({ customField: 'later', operator: 'contains' }, [1])
    isFault({ customField: 'later', operator: 'within_days' }, ['x'])
    isFault({ customField: 'later', operator: 'in' }, [[]])
  })

  test('an existing field takes values of its type alone', () => {
    isFault({ customField: 'plan', operator: 'equals' }, [1, true])
    isFault({ customField: 'age', operator: 'equals' }, ['1', true])
  })

  test('ignoreCase is true or false', () => {
    for (const ignoreCase of ['true', 1, {}, []])
      expect(faultsOf({ attribute: 'city', operator: 'equals', value: 'x', ignoreCase })).toEqual(['rule.ignoreCase'])
  })

  test('a currency is 1 to 8 characters', () => {
    const words = { attribute: 'revenue', operator: 'exists' }
    for (const currency of ['e', 'EUR', 'BITCOIN1', ' eur ']) expect(faultsOf({ ...words, currency })).toEqual([])
    for (const currency of ['', ' ', 'BITCOIN12', 1, [], 'a\0'])
      expect(faultsOf({ ...words, currency })).toEqual(['rule.currency'])
  })
})

describe('conditions on properties', () => {
  const where = (...items: unknown[]) => faultsOf({ event: 'a', metric: 'count', operator: 'exists', where: items })
  const category = { property: 'item.category', operator: 'equals', value: 'shoes' }

  test('are at most 5', () => {
    expect(where(...times(5, category))).toEqual([])
    expect(where(...times(6, category))).toEqual(['rule.where'])
    expect(faultsOf({ event: 'a', metric: 'count', operator: 'exists', where: category })).toEqual(['rule.where'])
  })

  test('are objects with a property, an operator and what it needs', () => {
    expect(where(category, null)).toEqual(['rule.where[1]'])
    expect(where({ ...category, property: '' })).toEqual(['rule.where[0].property'])
    expect(where({ ...category, property: undefined })).toEqual(['rule.where[0].property'])
    expect(where({ ...category, property: 'x'.repeat(4096) })).toEqual([])
    expect(where({ ...category, property: 'x'.repeat(4097) })).toEqual(['rule.where[0].property'])
    expect(where({ ...category, operator: 'within_days', value: 1 })).toEqual(['rule.where[0].operator'])
    expect(where({ ...category, value: undefined })).toEqual(['rule.where[0].value'])
    expect(where({ ...category, value: true })).toEqual(['rule.where[0].value'])
    expect(where({ ...category, operator: 'greater_than' })).toEqual(['rule.where[0].value'])
    expect(where({ ...category, ignoreCase: true })).toEqual([])
    expect(where({ ...category, value: 1, ignoreCase: true })).toEqual(['rule.where[0].ignoreCase'])
  })

  test('the pseudo-properties have types', () => {
    expect(where({ property: 'value', operator: 'greater_than', value: 5 })).toEqual([])
    expect(where({ property: 'value', operator: 'contains', value: 'x' })).toEqual(['rule.where[0].operator'])
    expect(where({ property: 'value', operator: 'equals', value: '5' })).toEqual(['rule.where[0].value'])
    expect(where({ property: 'currency', operator: 'equals', value: 'EUR' })).toEqual([])
    expect(where({ property: 'type', operator: 'greater_than', value: 1 })).toEqual(['rule.where[0].operator'])
    expect(where({ property: 'item.value', operator: 'contains', value: 'x' })).toEqual([])
  })

  test('a sum needs a property', () => {
    const sum = { event: 'a', metric: 'sum', operator: 'exists' }
    expect(faultsOf(sum)).toEqual(['rule.property'])
    expect(faultsOf({ ...sum, property: null })).toEqual(['rule.property'])
    expect(faultsOf({ ...sum, property: 'value' })).toEqual([])
  })
})

describe('limits', () => {
  const nested = (levels: number): object => (levels === 1 ? TAG : { not: nested(levels - 1) })

  test('8 levels, a condition is one', () => {
    expect(faultsOf(nested(8))).toEqual([])
    expect(faultsOf(nested(9))).toEqual([`rule${'.not'.repeat(8)}`])
    expect(faultsOf({ all: [{ any: [nested(6)] }] })).toEqual([])
    expect(faultsOf({ all: [{ any: [nested(7)] }] })).toEqual([`rule.all[0].any[0]${'.not'.repeat(6)}`])
  })

  test('100 conditions', () => {
    expect(faultsOf({ all: times(100, TAG) })).toEqual([])
    expect(faultsOf({ all: [...times(99, TAG), { any: [TAG] }] })).toEqual([])
    expect(faultsOf({ all: [...times(99, TAG), { any: [TAG, TAG] }] })).toEqual(['rule.all[99].any[1]'])
    expect(faultsOf({ any: times(3, { all: times(100, TAG) }) })).toEqual(['rule.any[1].all[0]'])
  })

  test('100 rules in a group', () => {
    expect(faultsOf({ any: times(101, TAG) })).toEqual(['rule.any'])
    expect(faultsOf({ all: [TAG, { any: times(101, TAG) }] })).toEqual(['rule.all[1].any'])
  })

  test('32 KiB of compact JSON in UTF-8', () => {
    const rule = (text: string) => ({
      all: [
        ...times(7, { attribute: 'city', operator: 'equals', value: 'x'.repeat(4096) }),
        { attribute: 'city', operator: 'equals', value: text },
      ],
    })
    const free = 32 * 1024 - bytesOf(rule(''))
    expect(bytesOf(rule('x'.repeat(free)))).toBe(32_768)
    expect(faultsOf(rule('x'.repeat(free)))).toEqual([])
    expect(faultsOf(rule('x'.repeat(free + 1)))).toEqual(['rule'])
    // Two bytes each.
    expect(faultsOf(rule('é'.repeat(Math.floor(free / 2))))).toEqual([])
    expect(faultsOf(rule('é'.repeat(Math.floor(free / 2) + 1)))).toEqual(['rule'])
  })

  test('20 faults at most', () => {
    expect(faultsOf({ all: times(100, { tag: '', operator: '' }) })).toHaveLength(20)
  })

  test('JSON that is nested deep, or huge, is a fault and nothing worse', () => {
    let deep: unknown = []
    for (let level = 0; level < 200_000; level += 1) deep = [deep]
    expect(faultsOf(deep)).toEqual(['rule'])
    expect(faultsOf({ ...TAG, deep })).toEqual(['rule'])
    let shallower: unknown = []
    for (let level = 0; level < 10_000; level += 1) shallower = { not: shallower }
    expect(faultsOf(shallower)).toEqual([`rule${'.not'.repeat(8)}`])
    expect(faultsOf({ attribute: 'city', operator: 'equals', value: shallower })).toEqual(['rule.value'])
    expect(faultsOf({ all: times(1_000_000, TAG) })).toEqual(['rule'])
  })
})

test('the path of the rule may be another', () => {
  expect(readRule({}, CONTEXT, 'steps[2].rule')).toMatchObject({ faults: [{ path: 'steps[2].rule' }] })
})

test('messages begin with the path', () => {
  const read = readRule({ all: [{ tag: '', operator: 'x', foo: 1 }, {}] }, CONTEXT)
  const faults = 'faults' in read ? read.faults : []
  expect(faults).toHaveLength(4)
  for (const { path, message } of faults) expect(message.startsWith(`${path} `)).toBe(true)
})

describe('arbitrary JSON', () => {
  const KINDS = ['all', 'any', 'not', 'event', 'customField', 'tag', 'attribute', 'segment']
  const WORDS = ['metric', 'operator', 'value', 'where', 'withinDays', 'property', 'currency', 'channel', 'ignoreCase']
  const wordOf = fc.constantFrom(...KINDS, ...WORDS, '__proto__', 'constructor', 'x')
  const scalar = fc.oneof(
    fc.constantFrom(
      'last',
      'count',
      'sum',
      'exists',
      'equals',
      'in',
      'between',
      'has',
      'is_member',
      'revenue',
      'known',
    ),
    fc.constantFrom<unknown>(null, true, 1, 0.5, -1, '', '\0', '\ud800'),
    fc.string(),
    fc.double(),
  )
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 6 },
      scalar,
      fc.array(tie('json'), { maxLength: 4 }),
      fc.array(fc.tuple(wordOf, tie('json')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))

  const isSound = (raw: unknown): void => {
    const read = readRule(raw, CONTEXT)
    if ('rule' in read) return expect(readRule(read.rule, CONTEXT)).toEqual(read)
    expect(read.faults.length).toBeGreaterThan(0)
    for (const { path, message } of read.faults) expect((path + message).isWellFormed()).toBe(true)
  }

  test('never throws', () => {
    fc.assert(fc.property(fc.oneof(json, fc.jsonValue()), isSound), { numRuns: runs(10_000) })
  })

  test('never throws on a rule of which one word was changed, and finds each word that was added', () => {
    const changed = fc.tuple(ruleOf(['inner', 'outer']), fc.nat(), fc.oneof(json, fc.constant(undefined)))
    fc.assert(
      fc.property(changed, segmentsOf(), ([rule, place, value], segments) => {
        const copy = copyOf(rule)
        const objects = objectsIn(copy)
        const object = objects[place % objects.length] ?? {}
        const words = Object.keys(object)
        object[words[place % words.length] ?? ''] = value
        isSound(copy)
        const added = copyOf(rule)
        const others = objectsIn(added)
        Object.assign(others[place % others.length] ?? {}, { added: value ?? null })
        const read = readRule(added, { ...CONTEXT, segments, fields: new Map() })
        const paths = 'faults' in read ? read.faults.map(({ path }) => path) : []
        expect(paths.filter((path) => path.endsWith('.added'))).toHaveLength(1)
      }),
      { numRuns: runs(5000) },
    )
  })

  /** Copies the rule so that it contains no object twice. */
  const copyOf = (json: unknown): unknown => JSON.parse(JSON.stringify(json))

  function objectsIn(json: unknown): Record<string, unknown>[] {
    if (Array.isArray(json)) return json.flatMap(objectsIn)
    if (typeof json !== 'object' || json === null) return []
    return [json as Record<string, unknown>, ...Object.values(json).flatMap(objectsIn)]
  }
})
