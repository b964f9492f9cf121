/** A rule without time. It is true of every contact of which the rule itself may be true at some instant. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matches } from '../../../src/rules/segments/evaluate.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import { possibleRule } from '../../../src/rules/segments/compile/possible-rule.ts'
import { isTimed } from '../../../src/rules/segments/membership/reads-of.ts'
import { resolveRule } from '../../../src/rules/segments/resolve-rule.ts'
import type { ResolvedRule, Rule } from '../../../src/rules/segments/rule.ts'
import { runs } from '../../support/runs.ts'
import { factsOf } from './facts-of.ts'
import { BASE, CURRENCY, FIELDS, TOPICS, SMALL, factsOfWorld, ruleOf, segmentsOf } from './worlds.ts'

const DAY = 86_400_000
const resolve = (rule: Rule, segments: ReadonlyMap<string, Rule> = new Map()): ResolvedRule =>
  resolveRule(rule, { segments, currency: CURRENCY, country: 'DE', topics: TOPICS })
const isPossible = (rule: Rule, facts: SegmentFacts, since: number): boolean =>
  matches(possibleRule(resolve(rule), since), facts, FIELDS, 0)

const visited = (lastAt: number): SegmentFacts =>
  factsOf({ statistics: new Map([['visit', { firstAt: lastAt, lastAt, count: 1 }]]) })
const renewing = (at: number): SegmentFacts =>
  factsOf({ traits: new Map([['renewal', [0, JSON.stringify(new Date(at).toISOString())]]]) })
const last = (operator: 'within_days' | 'older_than_days'): Rule => ({
  event: 'visit',
  metric: 'last',
  operator,
  value: 30,
})

describe('the limits', () => {
  it('within_days: the last instant of the span counts, the one after it does not', () => {
    expect(isPossible(last('within_days'), visited(BASE - 30 * DAY), BASE)).toBe(true)
    expect(isPossible(last('within_days'), visited(BASE - 30 * DAY - 1), BASE)).toBe(false)
  })

  it('within_days of a date that lies ahead: it comes', () => {
    const rule: Rule = { customField: 'renewal', operator: 'within_days', value: 30 }
    expect(isPossible(rule, renewing(BASE + 300 * DAY), BASE)).toBe(true)
  })

  it('within_next_days: the instant itself counts, what is over does not', () => {
    const rule: Rule = { customField: 'renewal', operator: 'within_next_days', value: 3 }
    expect(isPossible(rule, renewing(BASE), BASE)).toBe(true)
    expect(isPossible(rule, renewing(BASE - 1), BASE)).toBe(false)
  })

  it('older_than_days: of everybody who has the date', () => {
    expect(isPossible(last('older_than_days'), visited(BASE), BASE)).toBe(true)
    expect(isPossible(last('older_than_days'), factsOf({}), BASE)).toBe(false)
  })

  it('not older_than_days: until the date is too old for good', () => {
    const rule: Rule = { not: last('older_than_days') }
    expect(isPossible(rule, visited(BASE - 30 * DAY), BASE)).toBe(true)
    expect(isPossible(rule, visited(BASE - 30 * DAY - 1), BASE)).toBe(false)
    expect(isPossible(rule, factsOf({}), BASE)).toBe(true)
  })

  it('not within_days: of everybody, since every span ends', () => {
    expect(isPossible({ not: last('within_days') }, visited(BASE), BASE)).toBe(true)
  })
})

const world = fc.record({
  rule: ruleOf(['inner', 'outer'], SMALL),
  segments: segmentsOf(SMALL),
  facts: factsOfWorld(SMALL.instant),
  since: fc.integer({ min: BASE - 5, max: BASE + 80 }),
})

it('is true of everybody of whom the rule is true at some millisecond from then on, and time does not change it', () => {
  fc.assert(
    fc.property(world, ({ rule, segments, facts, since }) => {
      const resolved = resolve(rule, segments)
      const possible = possibleRule(resolved, since)
      expect(isTimed(possible)).toBe(false)
      const instants = Array.from({ length: 100 }, (_, n) => since + n)
      if (instants.some((at) => matches(resolved, facts, FIELDS, at)))
        expect(matches(possible, facts, FIELDS, since)).toBe(true)
    }),
    { numRuns: runs(3000) },
  )
})

it('is the rule itself where nothing depends on time', () => {
  const rule: Rule = { all: [{ tag: 'visit', operator: 'has' }, { not: { customField: 'age', operator: 'exists' } }] }
  expect(possibleRule(resolve(rule), BASE)).toEqual(resolve(rule))
})
