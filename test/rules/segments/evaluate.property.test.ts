/** Random rules and contacts: compiled rules against a naive interpreter of the rule as written. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isWindowed } from '../../../src/rules/segments/condition-kinds.ts'
import { compileSegments } from '../../../src/rules/segments/compile/compile-segments.ts'
import { matches } from '../../../src/rules/segments/evaluate.ts'
import { explainRule } from '../../../src/rules/segments/explain-rule.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import { readRule } from '../../../src/rules/segments/reading/read-rule.ts'
import { resolveRule } from '../../../src/rules/segments/resolve-rule.ts'
import type { Condition, Rule } from '../../../src/rules/segments/rule.ts'
import { windowKey } from '../../../src/rules/segments/windows/window-key.ts'
import { runs } from '../../support/runs.ts'
import { type NaiveWorld, naive } from './naive-rules.ts'
import { BASE, CURRENCY, FIELDS, TOPICS, SMALL, factsOfWorld, instant, ruleOf, segmentsOf } from './worlds.ts'

const resolveContext = (segments: ReadonlyMap<string, Rule>) => ({
  segments,
  currency: CURRENCY,
  country: 'DE',
  topics: TOPICS,
})

const naiveWorld = (segments: ReadonlyMap<string, Rule>): NaiveWorld => ({
  segments,
  fields: FIELDS,
  currency: CURRENCY,
  topicsByDefault: ['news'],
  windowOf: (condition: Condition, { windows }) => {
    if (!isWindowed(condition)) return undefined
    return windows.get(windowKey({ ...condition, ...(condition.metric === 'sum' && { currency: CURRENCY }) }))
  },
})

const compile = (rule: Rule, segments: ReadonlyMap<string, Rule>) => {
  const resolved = resolveRule(rule, resolveContext(segments))
  const rules = [{ no: 1, segmentId: 'one', isBuilding: false, rule: resolved }]
  const [segment] = compileSegments(rules, FIELDS).all
  if (!segment) throw new Error('no segment was compiled')
  return { resolved, segment }
}

/**
 * Returns the instants around which a condition can change: each date in the facts, and that date plus and minus each
 * span of the rules.
 */
function candidates(rule: Rule, segments: ReadonlyMap<string, Rule>, facts: SegmentFacts): number[] {
  const json = JSON.stringify([rule, ...segments.values()])
  const spans = [...json.matchAll(/days","value":([0-9.e-]+)/g)].map(([, days]) =>
    Math.round(Number(days) * 86_400_000),
  )
  const dates = [facts.createdAt, ...[...facts.statistics.values()].flatMap(({ firstAt, lastAt }) => [firstAt, lastAt])]
  const renewal = facts.traits.get('renewal')?.[1] ?? null
  if (renewal !== null) dates.push(Date.parse(String(JSON.parse(renewal))))
  const around = dates.flatMap((date) => [0, ...spans].flatMap((span) => [date - span, date + span]))
  const near = around.flatMap((at) => [-2, -1, 0, 1, 2].map((more) => at + more))
  return [...new Set(near)].sort((a, b) => a - b)
}

const world = fc.record({
  rule: ruleOf(['inner', 'outer']),
  segments: segmentsOf(),
  facts: factsOfWorld(),
  now: instant(),
})

describe('compiled rules', () => {
  test('equal a naive interpreter of the rule as it was written', () => {
    fc.assert(
      fc.property(world, ({ rule, segments, facts, now }) => {
        const { resolved, segment } = compile(rule, segments)
        const expected = naive(rule, naiveWorld(segments), facts, now)
        expect(segment.test(facts, now)).toBe(expected)
        expect(matches(resolved, facts, FIELDS, now)).toBe(expected)
        expect(explainRule(resolved, facts, FIELDS, now).matches).toBe(expected)
      }),
      { numRuns: runs(5000) },
    )
  })

  test('stay the same when they are stored as JSON, with the words in any order', () => {
    fc.assert(
      fc.property(world, ({ rule, segments, facts, now }) => {
        const { resolved, segment } = compile(rule, segments)
        const stored = JSON.parse(JSON.stringify(resolved), sortWords) as typeof resolved
        expect(matches(stored, facts, FIELDS, now)).toBe(segment.test(facts, now))
      }),
      { numRuns: runs(1000) },
    )
  })

  test('depend on no facts but those that they say they read', () => {
    fc.assert(
      fc.property(world, factsOfWorld(), ({ rule, segments, facts, now }, others) => {
        const { segment } = compile(rule, segments)
        const mixed = { ...facts, ...unread(segment.reads, facts, others) }
        expect(segment.test(mixed, now)).toBe(segment.test(facts, now))
      }),
      { numRuns: runs(1250) },
    )
  })
})

const sortWords = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? 1 : -1)))
    : value

/** Returns the facts of `others` for everything that is not in `reads`. */
function unread(reads: ReadonlySet<string>, facts: SegmentFacts, others: SegmentFacts): Partial<SegmentFacts> {
  const mix = <Value>(kind: string, own: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>) =>
    new Map([
      ...[...own].filter(([key]) => reads.has(`${kind}:${key}`)),
      ...[...other].filter(([key]) => !reads.has(`${kind}:${key}`)),
    ])
  const mixed = <Words extends object>(kind: string, own: Words, other: Words) =>
    Object.fromEntries(mix<unknown>(kind, new Map(Object.entries(own)), new Map(Object.entries(other))))
  const tagsOf = ({ tags }: SegmentFacts) => new Map([...tags].map((tag) => [tag, true]))
  return {
    stage: reads.has('stage') ? facts.stage : others.stage,
    orderCount: reads.has('orders') ? facts.orderCount : others.orderCount,
    profile: mixed('profile', facts.profile, others.profile),
    subscriptions: mixed('subscription', facts.subscriptions, others.subscriptions) as SegmentFacts['subscriptions'],
    identities: [
      ...facts.identities.filter(({ kind }) => reads.has(`identity:${kind}`)),
      ...others.identities.filter(({ kind }) => !reads.has(`identity:${kind}`)),
    ],
    statistics: mix('event', facts.statistics, others.statistics),
    traits: mix('field', facts.traits, others.traits),
    tags: new Set(mix('tag', tagsOf(facts), tagsOf(others)).keys()),
    revenue: mix('revenue', facts.revenue, others.revenue),
    windows: mix('window', facts.windows, others.windows),
  }
}

describe('nextChange', () => {
  test('is the first instant at which the answer differs, of all instants around dates and thresholds', () => {
    fc.assert(
      fc.property(world, ({ rule, segments, facts, now }) => {
        const { segment } = compile(rule, segments)
        const answer = (at: number) => naive(rule, naiveWorld(segments), facts, at)
        const first = candidates(rule, segments, facts).find((at) => at > now && answer(at) !== answer(now))
        const next = segment.nextChange(facts, now)
        expect(next).toBe(first ?? null)
        if (next !== null) expect([answer(next - 1), answer(next)]).toEqual([answer(now), !answer(now)])
        if (!segment.isTimed) expect(next).toBeNull()
      }),
      { numRuns: runs(1250) },
    )
  })

  test('is the first of all milliseconds, in a world of a few of them', () => {
    const small = fc.record({
      rule: ruleOf(['inner', 'outer'], SMALL),
      segments: segmentsOf(SMALL),
      facts: factsOfWorld(SMALL.instant),
      now: SMALL.instant,
    })
    fc.assert(
      fc.property(small, ({ rule, segments, facts, now }) => {
        const { segment } = compile(rule, segments)
        const changes = everyMillisecond.filter((at) => segment.test(facts, at) !== segment.test(facts, at - 1))
        expect(segment.nextChange(facts, now)).toBe(changes.find((at) => at > now) ?? null)
        for (const at of changes) {
          const fixing = segment.fixedBy(facts, at)
          expect(fixing.length).toBeGreaterThan(0)
          expect(fixing.filter((key) => !segment.timedBy.has(key))).toEqual([])
        }
      }),
      { numRuns: runs(250) },
    )
  })

  test('is the first of all milliseconds, from each of them, for rules of many conditions that time changes', () => {
    const leaf = fc.oneof(
      fc.record({
        event: fc.constantFrom('purchase', 'visit'),
        metric: fc.constantFrom('last' as const, 'first' as const),
        operator: fc.constantFrom('within_days' as const, 'older_than_days' as const),
        value: fc.constantFrom(...SMALL.days),
      }),
      fc.record({
        customField: fc.constant('renewal'),
        operator: fc.constantFrom('within_days' as const, 'older_than_days' as const, 'within_next_days' as const),
        value: fc.constantFrom(...SMALL.days),
      }),
      fc.record({
        segment: fc.constantFrom('inner', 'outer'),
        operator: fc.constantFrom('is_member' as const, 'is_not_member' as const),
      }),
    )
    const groupOf = (part: fc.Arbitrary<Rule>, most: number): fc.Arbitrary<Rule> =>
      fc
        .tuple(fc.constantFrom('all', 'any', 'not all', 'not any'), fc.array(part, { minLength: 1, maxLength: most }))
        .map(([kind, parts]): Rule => {
          const group: Rule = kind.endsWith('all') ? { all: parts } : { any: parts }
          return kind.startsWith('not') ? { not: group } : group
        })
    const many = fc.record({
      rule: groupOf(groupOf(groupOf(leaf, 3), 4), 6),
      segments: segmentsOf(SMALL),
      facts: factsOfWorld(SMALL.instant),
    })
    fc.assert(
      fc.property(many, ({ rule, segments, facts }) => {
        const { segment } = compile(rule, segments)
        const answers = everyMillisecond.map((at) => segment.test(facts, at))
        let next: number | null = null
        for (let place = everyMillisecond.length - 2; place >= 0; place -= 1) {
          if (answers[place] !== answers[place + 1]) next = everyMillisecond[place + 1]!
          expect(segment.nextChange(facts, everyMillisecond[place]!)).toBe(next)
        }
      }),
      { numRuns: runs(125) },
    )
  })

  test.each(['any', 'all'] as const)('does not look at all conditions again for each of many instants: %s', (kind) => {
    /** No condition but the last one changes the answer. */
    const countReads = (many: number): number => {
      let reads = 0
      class Counted<Key, Value> extends Map<Key, Value> {
        override get(key: Key): Value | undefined {
          reads += 1
          return super.get(key)
        }
      }
      const facts: SegmentFacts = {
        createdAt: BASE,
        stage: 0,
        profile: {},
        identities: [],
        subscriptions: {},
        topics: {},
        orderCount: 0,
        traits: new Map(),
        tags: new Set(),
        revenue: new Map(),
        windows: new Map(),
        statistics: new Counted([['visit', { firstAt: BASE, lastAt: BASE, count: 1 }]]),
      }
      const operator = kind === 'any' ? 'within_days' : 'older_than_days'
      const parts = Array.from({ length: many }, (_, n): Rule => {
        const days = kind === 'any' ? n + 1 : many - n
        return { event: 'visit', metric: 'last', operator, value: days }
      })
      const { segment } = compile(kind === 'any' ? { any: parts } : { all: parts }, new Map())
      expect(segment.nextChange(facts, BASE)).toBe(BASE + many * 86_400_000 + 1)
      return reads
    }
    for (const many of [64, 1000]) expect(countReads(many)).toBeLessThan(16 * many)
  })

  const everyMillisecond = Array.from({ length: 140 }, (_, index) => BASE - 30 + index)
})

describe('a clock that is kept lazily', () => {
  const small = fc.record({
    rules: fc.array(ruleOf(['inner', 'outer'], SMALL), { minLength: 1, maxLength: 3 }),
    segments: segmentsOf(SMALL),
    history: fc.array(fc.record({ at: SMALL.instant, facts: factsOfWorld(SMALL.instant) }), {
      minLength: 1,
      maxLength: 5,
    }),
  })

  test('finds the changes that looking at every millisecond finds, at the same instants', () => {
    fc.assert(
      fc.property(small, ({ rules, segments, history }) => {
        const compiled = rules.map((rule) => compile(rule, segments).segment)
        const steps = history.toSorted((a, b) => a.at - b.at)
        expect(lazily(compiled, steps)).toEqual(exhaustively(compiled, steps))
      }),
      { numRuns: runs(500) },
    )
  })

  type Segments = ReturnType<typeof compile>['segment'][]
  type Steps = { at: number; facts: SegmentFacts }[]
  const END = BASE + 120

  function exhaustively(segments: Segments, steps: Steps): string[] {
    const changes: string[] = []
    let answers = segments.map(() => false)
    steps.forEach(({ at: from, facts }, step) => {
      for (let at = from; at < (steps[step + 1]?.at ?? END); at += 1)
        answers = note(changes, segments, answers, facts, at)
      // Several steps in one millisecond: the answers after each are recorded.
      if (steps[step + 1]?.at === from) answers = note(changes, segments, answers, facts, from)
    })
    return changes
  }

  /** The stored instant moves forward only when it was reached: a change of facts can only make it earlier. */
  function lazily(segments: Segments, steps: Steps): string[] {
    const changes: string[] = []
    let answers = segments.map(() => false)
    let due: number | null = null
    const nextOf = (facts: SegmentFacts, at: number): number | null =>
      earliest(segments.map((segment) => segment.nextChange(facts, at)))
    steps.forEach(({ at: from, facts }, step) => {
      answers = note(changes, segments, answers, facts, from)
      due = earliest([due, nextOf(facts, from)])
      const until = steps[step + 1]?.at ?? END
      while (due !== null && due < until) {
        answers = note(changes, segments, answers, facts, due)
        due = nextOf(facts, due)
      }
    })
    return changes
  }

  function note(changes: string[], segments: Segments, before: boolean[], facts: SegmentFacts, at: number): boolean[] {
    return segments.map((segment, index) => {
      const answer = segment.test(facts, at)
      if (answer !== before[index]) changes.push(`${index} ${answer ? 'entered' : 'left'} at ${at}`)
      return answer
    })
  }

  const earliest = (instants: (number | null)[]): number | null =>
    instants.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null)
})

describe('readRule', () => {
  test('returns every rule of the world as it was written', () => {
    fc.assert(
      fc.property(world, ({ rule, segments }) => {
        const fields = new Map<string, never>()
        expect(readRule(rule, { fields, segments, topics: TOPICS })).toEqual({ rule })
        expect(JSON.stringify(readRule(rule, { fields, segments, topics: TOPICS }))).toBe(JSON.stringify({ rule }))
      }),
      { numRuns: runs(500) },
    )
  })
})
