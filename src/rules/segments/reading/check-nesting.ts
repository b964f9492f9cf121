/** Checks the segments that a rule names: they exist, have no circular references, and stay within the limits. */
import { dependsOn } from '../membership/reads-of.ts'
import { type Reading, fault } from './reading.ts'
import type { Rule } from '../rule.ts'
import { conditionsOf } from '../walk-conditions.ts'

const MAX_NESTING = 5
const MAX_CONDITIONS = 1000
/** Maximum characters of JSON: the saves evaluate a copy of a segment's rule wherever it is named. */
const MAX_SIZE = 131_072

type Rules = ReadonlyMap<string, Rule>

/** @param self the id of the segment that has the rule; undefined for a new segment */
export function checkNesting(reading: Reading, rule: Rule, path: string, segments: Rules, self?: string): void {
  const leadsToSelf = memo(false, (id: string): boolean => id === self || namedBy(segments, id).some(leadsToSelf))
  checkNames(reading, segments, leadsToSelf)
  if (reading.faults.length > 0) return
  const edited = self === undefined ? segments : new Map([...segments, [self, rule]])
  const measure = createMeasure(edited)
  checkLimits(reading, rule, path, measure)
  const outer = [...segments.keys()].filter((id) => id !== self && leadsToSelf(id))
  if (reading.faults.length === 0) checkOuter(reading, path, outer, measure)
}

function checkNames(reading: Reading, segments: Rules, leadsToSelf: (id: string) => boolean): void {
  for (const { id, path } of reading.segments) {
    if (!segments.has(id)) fault(reading, path, 'not_a_segment')
    else if (leadsToSelf(id)) fault(reading, path, 'leads_to_itself')
  }
}

function checkLimits(reading: Reading, rule: Rule, path: string, measure: Measure): void {
  for (const named of reading.segments) {
    const isTooDeep = measure.nestingOf(named.id) + 1 > MAX_NESTING
    if (isTooDeep) fault(reading, named.path, 'nesting', { max: MAX_NESTING })
  }
  if (measure.conditionsIn(rule) > MAX_CONDITIONS) {
    fault(reading, path, 'conditions_with_named', { max: MAX_CONDITIONS })
  }
  if (measure.sizeIn(rule) > MAX_SIZE) {
    fault(reading, path, 'size_with_named', { max: MAX_SIZE })
  }
}

/** Checks the segments that lead to the edited one, since they grow with it. */
function checkOuter(reading: Reading, path: string, ids: readonly string[], measure: Measure): void {
  for (const id of ids) {
    if (measure.nestingOf(id) > MAX_NESTING) fault(reading, path, 'outer_nesting', { segment: id, max: MAX_NESTING })
    else if (measure.conditionsOf(id) > MAX_CONDITIONS)
      fault(reading, path, 'outer_conditions', { segment: id, max: MAX_CONDITIONS })
    else if (measure.sizeOf(id) > MAX_SIZE) fault(reading, path, 'outer_size', { segment: id, max: MAX_SIZE })
  }
}

interface Measure {
  /** Returns how many levels of segments a segment's rule names: 0 when it names none. */
  nestingOf(id: string): number
  /** Returns the number of conditions in a segment's rule and in the segments that it names. */
  conditionsOf(id: string): number
  conditionsIn(rule: Rule): number
  /**
   * Returns the characters of a segment's rule as JSON, plus those of the rules that it names, each as often as it is
   * named.
   */
  sizeOf(id: string): number
  sizeIn(rule: Rule): number
}

function createMeasure(segments: Rules): Measure {
  const nestingOf = memo(0, (id: string): number =>
    Math.max(0, ...namedBy(segments, id).map((id) => nestingOf(id) + 1)),
  )
  const conditionsIn = (rule: Rule): number =>
    conditionsOf(rule).reduce((sum, leaf) => sum + 1 + ('segment' in leaf ? ofSegment(leaf.segment) : 0), 0)
  const ofSegment = memo(0, (id: string): number => conditionsIn(ruleOf(segments, id)))
  const sizeIn = (rule: Rule): number =>
    conditionsOf(rule).reduce(
      (sum, leaf) => sum + ('segment' in leaf ? sizeOf(leaf.segment) : 0),
      JSON.stringify(rule).length,
    )
  const sizeOf = memo(0, (id: string): number => sizeIn(ruleOf(segments, id)))
  return { nestingOf, conditionsOf: ofSegment, conditionsIn, sizeOf, sizeIn }
}

const namedBy = (segments: Rules, id: string): string[] => dependsOn(ruleOf(segments, id))

function ruleOf(segments: Rules, id: string): Rule {
  const rule = segments.get(id)
  if (rule === undefined) throw new Error(`the segment ${id} is named, but it does not exist`)
  return rule
}

/**
 * Computes a value once for each segment.
 * @param initial its value during the computation
 */
function memo<Value>(initial: Value, compute: (id: string) => Value): (id: string) => Value {
  const known = new Map<string, Value>()
  return (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    known.set(id, initial)
    const value = compute(id)
    known.set(id, value)
    return value
  }
}
