import type { CompiledRule } from '../compile/compile-rule.ts'
import type { SegmentFacts } from './facts.ts'
import { openAnswer } from '../compile/running-answer.ts'

/**
 * Returns the first instant after `now` at which the answer of a rule differs from the answer at `now`, if the facts do
 * not change; null when there is none. Between the instants at which conditions change, the answer stays the same.
 * `answer`: the answer at `now`, if it is known.
 */
export function nextChange(
  { test, timed, parts }: CompiledRule,
  facts: SegmentFacts,
  now: number,
  answer?: boolean,
): number | null {
  let at = firstAfter(timed, facts, now)
  if (at === null) return null
  const before = answer ?? test(facts, now)
  for (let looks = 1; at !== null && test(facts, at) === before; looks += 1) {
    if (looks > FEW) return nextOfMany({ timed, parts }, facts, at, before)
    at = firstAfter(timed, facts, at)
  }
  return at
}

/** Up to this many instants, it is faster to look for each of them in all conditions. */
const FEW = 4

/** Goes through all instants after `since` in order. Each instant costs only the conditions that change at it. */
function nextOfMany(
  { timed, parts }: Pick<CompiledRule, 'timed' | 'parts'>,
  facts: SegmentFacts,
  since: number,
  before: boolean,
): number | null {
  const due: { at: number; leaf: number }[] = []
  for (const { changes, leaf } of timed) for (const at of changes(facts)) if (at > since) due.push({ at, leaf })
  if (due.length === 0) return null
  due.sort((a, b) => a.at - b.at)
  const answer = openAnswer(parts, facts, since)
  for (const [place, { at, leaf }] of due.entries()) {
    answer.update(leaf, at)
    // Conditions that change at the same instant count together.
    if (due[place + 1]?.at !== at && answer.is() !== before) return at
  }
  return null
}

/** Returns the first instant after `now` at which a condition changes. */
function firstAfter(timed: CompiledRule['timed'], facts: SegmentFacts, now: number): number | null {
  let first: number | null = null
  for (const { changes } of timed)
    for (const at of changes(facts)) if (at > now && (first === null || at < first)) first = at
  return first
}

/** Maximum time between the receipt of an item and its decision, in milliseconds. */
const MAX_LATE_MS = 7 * 86_400_000

/**
 * Returns the last instant after `since` and up to `now` at which time has changed a condition. An item that was received
 * earlier must not be decided as of its receipt. Returns 0 when there is no such instant, or when it is so long ago that
 * no such item can arrive.
 */
export function lastChange(
  { timed }: CompiledRule,
  facts: SegmentFacts,
  now: number,
  since = now - MAX_LATE_MS,
): number {
  let last = 0
  for (const { changes } of timed) for (const at of changes(facts)) if (at <= now && at > since && at > last) last = at
  return last
}
