import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findLargeIntegers, noteLargeIntegers, warnOfLargeIntegers } from '../../src/front-door/http/large-integers.ts'

const warn = (text: string, ...fields: string[]) => {
  const body: unknown = JSON.parse(text)
  noteLargeIntegers(text, body)
  return warnOfLargeIntegers(body, fields)
}

test.each([
  ['{"properties":{"tweet":9007199254740992}}', []],
  ['{"properties":{"tweet":9007199254740993}}', [['properties', 'tweet']]],
  ['{"properties":{"tweet":-9007199254740992}}', []],
  ['{"properties":{"tweet":-9007199254740993}}', [['properties', 'tweet']]],
  ['{"properties":{"tweet":"9007199254740993"}}', []],
  ['{"properties":{"tweet":0.9007199254740993123}}', []],
  ['{"properties":{"tweet":12345678901234567e3}}', []],
  ['[1,[2,{"a\\"b":[[],{}, 1524831183200260097 ]}]]', [[1, 1, 'a"b', 2]]],
  ['{"a":":12345678901234567,","\\\\":12345678901234567}', [['\\']]],
  ['12345678901234567', [[]]],
])('%s has %j', (text, paths) => {
  expect(findLargeIntegers(text)).toEqual(paths)
})

test('finds every large integer of any JSON, and nothing else', () => {
  const large = fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 80n }).map((size) => ({ size }))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true),
      large,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('tree'), { maxKeys: 4 }).map((members) => ({ members })),
    ),
  }))
  type Tree = string | number | boolean | null | { size: bigint } | { members: Record<string, Tree> } | Tree[]
  const write = (value: Tree, path: (string | number)[], found: unknown[]): string => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value)
    if (Array.isArray(value)) return `[${value.map((item, at) => write(item, [...path, at], found)).join(' , ')}]`
    if ('size' in value) {
      found.push(path)
      return String(value.size)
    }
    const members = Object.entries(value.members).map(
      ([name, item]) => `${JSON.stringify(name)}: ${write(item, [...path, name], found)}`,
    )
    return `{${members.join(',\n')}}`
  }
  fc.assert(
    fc.property(tree, (value) => {
      const expected: unknown[] = []
      const text = write(value as Tree, [], expected)
      JSON.parse(text)
      // A number such as 1.5e300 is written with an exponent; one of up to 21 digits is not.
      const found = findLargeIntegers(text)
      expect(found.filter((path) => expected.some((one) => JSON.stringify(one) === JSON.stringify(path)))).toEqual(
        expected,
      )
    }),
  )
})

test('an object has warnings for its own fields', () => {
  const text = '{"properties":{"tweet":1524831183200260097},"traits":{"ref":9007199254740993},"value":9007199254740993}'
  expect(warn(text, 'properties', 'traits')).toEqual([
    'properties.tweet was rounded: JSON numbers are exact up to 2^53; send it as a string',
    'traits.ref was rounded: JSON numbers are exact up to 2^53; send it as a string',
  ])
  expect(warn(text, 'traits')).toHaveLength(1)
  expect(warn('{"properties":{"tweet":"1524831183200260097"}}', 'properties')).toEqual([])
})

test('an item of a batch has warnings of its own', () => {
  const text = '{"events":[{"properties":{"n":1}},{"properties":{"n":[9007199254740993]}}]}'
  const body = JSON.parse(text) as { events: unknown[] }
  noteLargeIntegers(text, body)
  expect(body.events.map((item) => warnOfLargeIntegers(item, ['properties']))).toEqual([
    [],
    ['properties.n.0 was rounded: JSON numbers are exact up to 2^53; send it as a string'],
  ])
})

test('ten numbers are named, the others counted', () => {
  const list = (many: number) => `{"properties":{"n":[${Array(many).fill('9007199254740993').join(',')}]}}`
  expect(warn(list(10), 'properties')).toHaveLength(10)
  expect(warn(list(11), 'properties')).toHaveLength(11)
  expect(warn(list(11), 'properties').at(-1)).toBe('1 more numbers were rounded')
})

test('a deep, long or wide body costs little', () => {
  const deep = `${'['.repeat(5000)}9007199254740993${']'.repeat(5000)}`
  const long = `{"properties":{"${'k'.repeat(100_000)}":9007199254740993}}`
  const wide = `{"properties":[${'9007199254740993,'.repeat(1_000_000)}0]}`
  const started = performance.now()
  expect(findLargeIntegers(deep)).toEqual([])
  expect(warn(long, 'properties')[0]!.length).toBeLessThan(200)
  expect(warn(wide, 'properties')).toHaveLength(11)
  expect(performance.now() - started).toBeLessThan(3000)
})
