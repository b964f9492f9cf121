import type { CompiledSegment, CompiledSegments } from '../../rules/segments/compile/compile-segments.ts'
import { viewFacts } from '../../rules/segments/membership/view-facts.ts'
import { earlierOf } from '../../rules/segments/membership/watch-item.ts'
import type { ContactState } from '../../rules/state.ts'

export interface ExpectedMembership {
  /** Epoch milliseconds, not before the last settled instant. */
  at: number
  /** The answer of each rule that can be judged. */
  answers: { segment: CompiledSegment; isMember: boolean }[]
  /** When time alone changes one of the answers next, and the rule of that answer. Null: never. */
  next: { at: number; segment: CompiledSegment } | null
  /** The last instant at which time has changed an answer. */
  settledAt: number
}

/**
 * Excludes rules that count or sum events, because their answers follow an event later, and rules that are being built.
 */
export const isComparable = ({ isBuilding, isWindowed }: CompiledSegment): boolean => !isBuilding && !isWindowed

/**
 * Determines the memberships of a contact from its facts. 'due': time has changed an answer, and the segment worker
 * must write it first. Null: no facts were loaded.
 */
export function expectMembership(
  { all }: CompiledSegments,
  contact: ContactState,
  now: number,
): ExpectedMembership | 'due' | null {
  const { facts } = contact
  if (!facts) return null
  const { dueAt, settledAt } = facts.clock
  if (dueAt !== null && dueAt <= now) return 'due'
  const at = Math.max(now, settledAt)
  const view = viewFacts(contact, facts)
  const judged: ExpectedMembership = { at, answers: [], next: null, settledAt }
  for (const segment of all.filter(isComparable)) {
    judged.answers.push({ segment, isMember: segment.test(view, at) })
    if (!segment.isTimed) continue
    const next = segment.nextChange(view, at)
    if (next !== null && earlierOf(next, judged.next?.at ?? null) === next) judged.next = { at: next, segment }
    judged.settledAt = Math.max(judged.settledAt, segment.lastChange(view, at))
  }
  return judged
}
