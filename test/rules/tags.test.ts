import { expect, test } from 'vitest'
import { readTags } from '../../src/rules/events/tags.ts'
import { containing } from './containing.ts'

test.each([
  [[], []],
  [['vip'], ['vip']],
  [
    [' vip ', 'VIP', 'vip', '\tvip\n'],
    ['vip', 'VIP'],
  ],
  [['\u0085vip\u0085', 'vip'], ['vip']],
  [
    ['b', 'a', 'b'],
    ['b', 'a'],
  ],
  [['x'.repeat(64)], ['x'.repeat(64)]],
  [[` ${'x'.repeat(64)} `], ['x'.repeat(64)]],
  [['😀'.repeat(32)], ['😀'.repeat(32)]],
  [
    ['__proto__', 'constructor'],
    ['__proto__', 'constructor'],
  ],
])('%j gives %j', (raw, tags) => {
  expect(readTags(raw)).toEqual({ tags, faults: [] })
})

test.each([
  [['fine', ''], 'tags.1', '1 to 64'],
  [['  '], 'tags.0', '1 to 64'],
  [['\u0085'], 'tags.0', '1 to 64'],
  [['x'.repeat(65)], 'tags.0', '1 to 64'],
  [['😀'.repeat(32) + 'x'], 'tags.0', '1 to 64'],
  [['a\0'], 'tags.0', 'NUL'],
  [['fine', '\uD800'], 'tags.1', 'lone surrogates'],
])('%j is refused', (raw, path, rule) => {
  expect(readTags(raw)).toMatchObject({ tags: [], faults: [{ path, message: containing(rule) }] })
})

test('every bad tag is reported', () => {
  expect(readTags(['', 'fine', 'x'.repeat(65)]).faults.map(({ path }) => path)).toEqual(['tags.0', 'tags.2'])
})

test('50 items are taken, one more is refused, repeats counted', () => {
  const fifty = Array.from({ length: 50 }, (_, index) => `tag ${index}`)
  expect(readTags(fifty)).toEqual({ tags: fifty, faults: [] })
  expect(readTags([...fifty, 'tag 0'])).toEqual({
    tags: [],
    faults: [
      { path: 'tags', message: 'tags must be an array of at most 50 items', code: 'items_up_to', values: { max: 50 } },
    ],
  })
})
