import type { CompiledSegment } from '../compile/compile-segments.ts'
import type { SegmentFacts } from '../membership/facts.ts'
import type { WindowStep } from './walk-windows.ts'

/**
 * Like `nextChange`, for a rule that reads windows.
 * @param steps how time changes the windows after `now`, in order
 */
export function nextWindowedChange(
  { test, nextChange }: Pick<CompiledSegment, 'test' | 'nextChange'>,
  facts: SegmentFacts,
  steps: readonly WindowStep[],
  now: number,
): number | null {
  const answer = test(facts, now)
  const windows = new Map(facts.windows)
  const later = { ...facts, windows }
  let since = now
  for (const { at, values } of steps) {
    const due = nextChange(later, since)
    if (due !== null && due < at) return due
    for (const [key, { value }] of values) {
      if (value === undefined) windows.delete(key)
      else windows.set(key, value)
    }
    if (test(later, at) !== answer) return at
    since = at
  }
  return nextChange(later, since)
}
