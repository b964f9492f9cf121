import type { FieldType } from '../../events/facts.ts'
import { type CompiledRule, compileRule } from './compile-rule.ts'
import type { FactKey, SegmentFacts, TimeKey } from '../membership/facts.ts'
import { fixedBy } from './fixed-by.ts'
import { lastChange, nextChange } from '../membership/next-change.ts'
import { factConditionsOf, isTimed, readsOf } from '../membership/reads-of.ts'
import type { ResolvedRule } from '../rule.ts'
import { type Window, windowsOf } from '../windows/windows-of.ts'

/** A rule that saves evaluate: the current rule of a segment, or the new rule that is being built. */
export interface SegmentRule {
  no: number
  segmentId: string
  isBuilding: boolean
  rule: ResolvedRule
}

export interface CompiledSegment {
  no: number
  segmentId: string
  isBuilding: boolean
  /** True when time alone can change the answer. */
  isTimed: boolean
  /** True when the rule reads counts or sums of the timeline. They are updated after the answer to an event. */
  isWindowed: boolean
  reads: ReadonlySet<FactKey>
  /** The facts that determine when time changes conditions. */
  timedBy: ReadonlySet<TimeKey>
  test(facts: SegmentFacts, now: number): boolean
  /** See next-change.ts. */
  nextChange(facts: SegmentFacts, now: number, answer?: boolean): number | null
  lastChange(facts: SegmentFacts, now: number, since?: number): number
  /** See fixed-by.ts. */
  fixedBy(facts: SegmentFacts, at: number): TimeKey[]
}

export interface CompiledSegments {
  all: CompiledSegment[]
  timed: CompiledSegment[]
  byNumber: ReadonlyMap<number, CompiledSegment>
  /** The facts that determine when time changes a condition of any segment. */
  timedBy: ReadonlySet<TimeKey>
  byFact: ReadonlyMap<FactKey, CompiledSegment[]>
  /** By fact that the segments read: the time keys that depend on it. */
  timesOf: ReadonlyMap<FactKey, TimeKey[]>
  /** Segments to evaluate when a contact is created, in addition to those that read a fact that it is created with. */
  ofNewContacts: CompiledSegment[]
  /** The names that their rules read, in sorted lists. */
  watched: WatchedNames
  /** The counts and sums of the timeline that they read, by key. */
  windows: ReadonlyMap<string, Window>
  /** The events that these windows count. */
  windowEvents: ReadonlySet<string>
}

export interface WatchedNames {
  events: string[]
  fields: string[]
  tags: string[]
  revenue: boolean
  windows: boolean
}

/**
 * Compiles the rules of a business. `fields` is read at each evaluation, so fields that are added to the map later
 * count.
 */
export function compileSegments(
  rules: readonly SegmentRule[],
  fields: ReadonlyMap<string, FieldType>,
): CompiledSegments {
  const compiled = rules.map((rule) => ({ rule: rule.rule, segment: compileSegment(rule, fields) }))
  const all = compiled.map(({ segment }) => segment)
  const windows = windowsOf(rules)
  const timedBy = new Set(all.flatMap((segment) => [...segment.timedBy]))
  return {
    all,
    timed: all.filter(({ isTimed }) => isTimed),
    byNumber: new Map(all.map((segment) => [segment.no, segment])),
    timedBy,
    byFact: indexByFact(all),
    timesOf: Map.groupBy(
      [...timedBy].filter((key) => key !== 'createdAt'),
      factOfTime,
    ),
    ofNewContacts: compiled
      .filter(({ rule, segment }) => readsCreation(rule) || segment.test(NOTHING, 0))
      .map(({ segment }) => segment),
    watched: watchedBy(all),
    windows,
    windowEvents: new Set([...windows.values()].map(({ condition }) => condition.event)),
  }
}

function compileSegment({ rule, ...named }: SegmentRule, fields: ReadonlyMap<string, FieldType>): CompiledSegment {
  const compiled: CompiledRule = compileRule(rule, fields)
  const { test, timed } = compiled
  const reads = readsOf(rule)
  return {
    ...named,
    isTimed: isTimed(rule),
    isWindowed: [...reads].some((key) => key.startsWith('window:')),
    reads,
    timedBy: new Set(timed.map(({ key }) => key)),
    test,
    nextChange: (facts, now, answer) => nextChange(compiled, facts, now, answer),
    lastChange: (facts, now, since) => lastChange(compiled, facts, now, since),
    fixedBy: (facts, at) => fixedBy(timed, facts, at),
  }
}

function indexByFact(all: readonly CompiledSegment[]): Map<FactKey, CompiledSegment[]> {
  const byFact = new Map<FactKey, CompiledSegment[]>()
  for (const segment of all)
    for (const key of segment.reads) {
      const readers = byFact.get(key)
      if (readers) readers.push(segment)
      else byFact.set(key, [segment])
    }
  return byFact
}

/** Returns the fact that a time key depends on. */
const factOfTime = (key: Exclude<TimeKey, 'createdAt'>): FactKey =>
  key.startsWith('field:') ? (key as `field:${string}`) : `event:${key.slice(key.indexOf(':') + 1)}`

/**
 * A contact with only the facts that every contact has. Without `createdAt`, the time of evaluation does not matter for
 * any rule.
 */
const NOTHING: SegmentFacts = {
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
}

function readsCreation(rule: ResolvedRule): boolean {
  return factConditionsOf(rule).some(
    (condition) => 'attribute' in condition && (condition.attribute === 'createdAt' || condition.attribute === 'stage'),
  )
}

function watchedBy(all: readonly CompiledSegment[]): WatchedNames {
  const keys = new Set(all.flatMap(({ reads }) => [...reads]))
  const namesOf = (kind: string): string[] =>
    [...keys].flatMap((key) => (key.startsWith(`${kind}:`) ? [key.slice(kind.length + 1)] : [])).sort()
  return {
    events: namesOf('event'),
    fields: namesOf('field'),
    tags: namesOf('tag'),
    revenue: namesOf('revenue').length > 0,
    windows: namesOf('window').length > 0,
  }
}
