import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'

/** Returns the facts of a contact that has only the given ones. */
export function factsOf(given: Partial<SegmentFacts> = {}): SegmentFacts {
  return {
    createdAt: 0,
    stage: 0,
    profile: {},
    identities: [],
    subscriptions: {},
    topics: {},
    orderCount: 0,
    statistics: new Map(),
    traits: new Map(),
    tags: new Set(),
    revenue: new Map(),
    windows: new Map(),
    ...given,
  }
}

/** Facts with one custom field. */
export const withField = (value: string | number | boolean | null, key = 'field'): SegmentFacts =>
  factsOf({ traits: new Map([[key, [0, value === null ? null : JSON.stringify(value)]]]) })

/** Facts with one event. */
export const withEvent = (times: { count?: number; firstAt?: number; lastAt?: number }, event = 'purchase') =>
  factsOf({ statistics: new Map([[event, { count: 1, firstAt: 0, lastAt: 0, ...times }]]) })
