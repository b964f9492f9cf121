import { describe, expect, test } from 'vitest'
import { readRule } from '../../../src/rules/segments/reading/read-rule.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'

const TAG: Rule = { tag: 'vip', operator: 'has' }
const named = (segment: string): Rule => ({ segment, operator: 'is_member' })

function faultsOf(rule: Rule, segments: Record<string, Rule>, self?: string): string[] {
  const context = {
    fields: new Map(),
    segments: new Map(Object.entries(segments)),
    ...(self !== undefined && { self }),
  }
  const read = readRule(rule, context)
  return 'faults' in read ? read.faults.map(({ path }) => path) : []
}

/** Returns a chain of segments: s0 names no segment, s1 names s0, and so on. */
const chain = (length: number): Record<string, Rule> =>
  Object.fromEntries(Array.from({ length }, (_, n) => [`s${n}`, n === 0 ? TAG : named(`s${n - 1}`)]))
const times = (count: number, rule: Rule): Rule[] => Array.from({ length: count }, () => rule)

describe('segments in rules', () => {
  test('must exist', () => {
    expect(faultsOf({ all: [TAG, named('missing')] }, { s0: TAG })).toEqual(['rule.all[1].segment'])
    expect(faultsOf({ any: [named('constructor'), named('s0'), named('__proto__')] }, { s0: TAG })).toEqual([
      'rule.any[0].segment',
      'rule.any[2].segment',
    ])
  })

  test('must not name the segment itself, directly or through others', () => {
    const segments = { a: TAG, b: named('a'), c: { not: named('b') }, d: TAG }
    expect(faultsOf(named('a'), segments, 'a')).toEqual(['rule.segment'])
    expect(faultsOf({ any: [named('d'), named('b'), named('c')] }, segments, 'a')).toEqual([
      'rule.any[1].segment',
      'rule.any[2].segment',
    ])
    expect(faultsOf(named('a'), segments, 'b')).toEqual([])
    expect(faultsOf(named('c'), segments)).toEqual([])
  })

  test('the rule that is replaced does not count', () => {
    // c no longer names b, so b may name c.
    const segments = { b: TAG, c: named('b') }
    expect(faultsOf(TAG, segments, 'c')).toEqual([])
    expect(faultsOf(named('c'), { b: TAG, c: TAG }, 'b')).toEqual([])
  })

  test('may be nested 5 deep', () => {
    expect(faultsOf(named('s4'), chain(6))).toEqual([])
    expect(faultsOf({ all: [named('s4'), named('s5'), TAG] }, chain(6))).toEqual(['rule.all[1].segment'])
  })

  test('may not be nested deeper by an edit of an inner segment', () => {
    const segments = { ...chain(4), x0: TAG, x1: named('x0'), x2: named('x1') }
    // s3 is then 3 + 1 + 1 deep.
    expect(faultsOf(named('x1'), segments, 's0')).toEqual([])
    expect(faultsOf(named('x2'), segments, 's0')).toEqual(['rule'])
  })

  test('may be named often, up to 1,000 conditions in all', () => {
    const segments = { big: { all: times(99, TAG) } }
    // Each counts as the condition that names the segment plus the 99 conditions of its rule.
    expect(faultsOf({ any: times(10, named('big')) }, segments)).toEqual([])
    expect(faultsOf({ any: [...times(10, named('big')), TAG] }, segments)).toEqual(['rule'])
  })

  test('an edit may not give an outer segment more than 1,000 conditions', () => {
    const segments = { inner: TAG, outer: { any: times(10, named('inner')) } }
    expect(faultsOf({ all: times(99, TAG) }, segments, 'inner')).toEqual([])
    expect(faultsOf({ all: times(100, TAG) }, segments, 'inner')).toEqual(['rule'])
  })

  test('may be named often, up to 131,072 characters in all', () => {
    const outer = { any: times(5, named('big')) }
    // Seven texts. The last one has the length that fills the rest.
    const list = (length: number): Rule => ({
      attribute: 'city',
      operator: 'in',
      value: [...Array.from({ length: 6 }, () => 'x'.repeat(4000)), 'x'.repeat(length)],
    })
    const size = (rule: Rule) => JSON.stringify(rule).length
    const room = Math.floor((131_072 - size(outer)) / 5) - size(list(0))
    expect(faultsOf(outer, { big: list(room) })).toEqual([])
    expect(faultsOf(outer, { big: list(room + 1) })).toEqual(['rule'])
    expect(faultsOf(list(room), { big: TAG, outer }, 'big')).toEqual([])
    expect(faultsOf(list(room + 1), { big: TAG, outer }, 'big')).toEqual(['rule'])
  })

  test('a thousand segments that name each other many times are each looked at once', () => {
    const wide = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`w${n}`, named(`v${n % 90}`)]))
    const middle = Object.fromEntries(
      Array.from({ length: 90 }, (_, n) => [`v${n}`, { all: times(100, named('inner')) }]),
    )
    const began = performance.now()
    expect(faultsOf(named('other'), { inner: TAG, other: TAG, ...middle, ...wide }, 'inner')).toEqual([])
    expect(performance.now() - began).toBeLessThan(5000)
  })
})
