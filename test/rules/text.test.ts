import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  hasMoreBytes,
  hasMoreValues,
  isClean,
  MAX_DEPTH,
  sanitiseJson,
  sanitiseText,
  trimText,
} from '../../src/rules/events/text.ts'
import { atLoad } from '../support/at-load.ts'

const HIGH = '\uD83D'
const LOW = '\uDE00'
const anyText = fc.string({ unit: 'binary' })
const brokenText = fc.array(fc.oneof(anyText, fc.constantFrom(HIGH, LOW, '\0', '😀'))).map((pieces) => pieces.join(''))

describe('trimText', () => {
  test.each([
    ['\u0085a\u0085', 'a'],
    [' \u0085 a\u0085b \u0085\n', 'a\u0085b'],
    ['\u0085', ''],
    ['\u0085 \u3000\u0085', ''],
    ['', ''],
    ['a', 'a'],
    ['\uFEFF\u200Aa\u2029', 'a'],
    ['\u200Ba\u200B', '\u200Ba\u200B'],
  ])('%j becomes %j', (input, text) => {
    expect(trimText(input)).toBe(text)
  })

  test('takes all white space of Unicode, and only that and the byte order mark, in linear time', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\u0085', '\u2028', '\u3000', '\u200B', '\uFEFF', HIGH, 'é'),
    })
    const around = /^[\p{White_Space}\uFEFF]+|(?<![\p{White_Space}\uFEFF])[\p{White_Space}\uFEFF]+$/gu
    fc.assert(
      fc.property(text, (input) => {
        expect(trimText(input)).toBe(input.replace(around, ''))
      }),
    )
    const long = `a${' \u0085'.repeat(500_000)}a`
    const started = performance.now()
    expect(trimText(`${long}\u0085`)).toBe(long)
    expect(performance.now() - started).toBeLessThan(atLoad(500))
  })
})

describe('isClean', () => {
  test.each([
    ['', true],
    ['plain', true],
    ['😀', true],
    ['line\nbreak\ttab\u0001', true],
    ['\uFFFD', true],
    ['a\0b', false],
    [HIGH, false],
    [LOW, false],
    [`${LOW}${HIGH}`, false],
    [`😀${HIGH}`, false],
  ])('%j is clean: %s', (text, clean) => {
    expect(isClean(text)).toBe(clean)
  })
})

describe('sanitiseText', () => {
  test.each([
    ['plain 😀', 'plain 😀', false],
    ['a\0b\0', 'a\uFFFDb\uFFFD', true],
    [`${HIGH}x`, '\uFFFDx', true],
    [`${LOW}${HIGH}`, '\uFFFD\uFFFD', true],
  ])('%j becomes %j', (input, text, changed) => {
    expect(sanitiseText(input)).toEqual({ text, changed })
  })

  test('the outcome is clean, as long as before, and stays as it is', () => {
    fc.assert(
      fc.property(brokenText, (input) => {
        const { text, changed } = sanitiseText(input)
        expect(isClean(text)).toBe(true)
        expect(text).toHaveLength(input.length)
        expect(changed).toBe(text !== input)
        expect(sanitiseText(text)).toEqual({ text, changed: false })
      }),
    )
  })
})

describe('sanitiseJson', () => {
  test('cleans values and keys at every level', () => {
    expect(sanitiseJson({ 'k\0': ['a\0', { deep: HIGH }], fine: 1 })).toEqual({
      value: { 'k\uFFFD': ['a\uFFFD', { deep: '\uFFFD' }], fine: 1 },
      changed: true,
      tooDeep: false,
    })
  })

  test('leaves clean JSON as it is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const input: unknown = JSON.parse(text)
        const { value, tooDeep } = sanitiseJson(input)
        expect(tooDeep).toBe(false)
        expect(sanitiseJson(value)).toEqual({ value, changed: false, tooDeep: false })
        expect(JSON.stringify(value)).toBe(JSON.stringify(input))
      }),
    )
  })

  test('an own __proto__ key stays a key and pollutes nothing', () => {
    const input: unknown = JSON.parse(
      '{"__proto__":{"polluted":"a\\u0000"},"constructor":{"prototype":{"polluted":1}}}',
    )
    const { value, changed } = sanitiseJson(input)
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"polluted":"a\uFFFD"},"constructor":{"prototype":{"polluted":1}}}',
    )
    expect(changed).toBe(true)
    expect('polluted' in {}).toBe(false)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test('a number that JSON cannot write becomes null', () => {
    expect(sanitiseJson(JSON.parse('{"huge":1e999,"low":-1e999,"fine":1e308}'))).toEqual({
      value: { huge: null, low: null, fine: 1e308 },
      changed: true,
      tooDeep: false,
    })
  })

  test.each([
    ['arrays', (levels: number) => '['.repeat(levels) + ']'.repeat(levels)],
    ['objects', (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1)],
  ])('%s nest to the limit, and not one past it', (_name, nest) => {
    expect(sanitiseJson(JSON.parse(nest(MAX_DEPTH))).tooDeep).toBe(false)
    expect(sanitiseJson(JSON.parse(nest(MAX_DEPTH + 1)))).toEqual({ value: null, changed: false, tooDeep: true })
    expect(sanitiseJson(JSON.parse(nest(100_000)))).toEqual({ value: null, changed: false, tooDeep: true })
  })
})

describe('hasMoreValues', () => {
  test.each<[unknown, number]>([
    [1, 1],
    [null, 1],
    ['text', 1],
    [[], 1],
    [{ a: 1, b: [2, { c: null }] }, 6],
    [JSON.parse(`[${'[],'.repeat(99)}[]]`), 101],
    [JSON.parse('['.repeat(5000) + ']'.repeat(5000)), 5000],
  ])('%j holds %i values', (value, count) => {
    expect([hasMoreValues(value, count - 1), hasMoreValues(value, count)]).toEqual([true, false])
  })

  test('looks at nothing inside of what holds too many', () => {
    const read: (string | symbol)[] = []
    const wide = new Proxy(Array.from({ length: 10 }), {
      get(values, key: 'length') {
        read.push(key)
        return values[key]
      },
    })
    expect(hasMoreValues(wide, 10)).toBe(true)
    expect(new Set(read)).toEqual(new Set(['length']))
  })

  test('a JSON of that number of values has about twice as many bytes at least', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hasMoreValues(value, (JSON.stringify(value).length + 1) / 2)).toBe(false)
      }),
    )
  })
})

describe('hasMoreBytes', () => {
  test.each([
    ['', 0],
    ['{"a":1}', 7],
    ['{"a":"é"}', 10],
    ['{"a":"😀"}', 12],
    ['€€€', 9],
    ['x'.repeat(1000), 1000],
  ])('%j takes %i bytes', (text, bytes) => {
    expect([hasMoreBytes(text, bytes - 1), hasMoreBytes(text, bytes)]).toEqual([true, false])
  })
})
