import { startBySegment } from '../../campaigns/enrolment.ts'
import type { DecisionContext } from '../../changes.ts'
import type { ContactState } from '../../state.ts'
import { changeMembership } from './change-membership.ts'
import type { CompiledSegment, CompiledSegments } from '../compile/compile-segments.ts'
import type { SegmentFacts } from './facts.ts'
import { viewFacts } from './view-facts.ts'
import { type WatchedFacts, isLeftToWorker } from './watched-facts.ts'

interface ChangeByTime {
  segment: CompiledSegment
  entered: boolean
  at: number
  isSilent: boolean
}

/**
 * Records the changes that time alone has made up to `now` (epoch ms), each at its instant. Starts campaigns with the
 * changes that are not silent, and sets the clock to the next instant. The facts must be unchanged since before the
 * clock's instant.
 */
export function settleTime(
  context: DecisionContext,
  { timed }: CompiledSegments,
  contact: ContactState,
  facts: WatchedFacts,
  now: number,
): void {
  const { changes } = context
  const { clock } = facts
  if (clock.dueAt === null || clock.dueAt > now) return
  const view = viewFacts(contact, facts)
  const made: ChangeByTime[] = []
  let next: number | null = null
  let last = clock.settledAt
  for (const segment of timed) {
    if (isLeftToWorker(segment, facts)) continue
    const after = changesOf(segment, view, facts, clock.dueAt, now, made)
    if (after !== null && (next === null || after < next)) next = after
    last = Math.max(last, segment.lastChange(view, now))
  }
  made.sort((a, b) => a.at - b.at || a.segment.no - b.segment.no)
  for (const { segment, entered, at, isSilent } of made) {
    changeMembership(changes, contact, segment, { entered, at, cause: isSilent ? 'bulk' : 'time', isByTime: true })
    if (!isSilent && !segment.isBuilding)
      startBySegment(withoutEvent(context), contact, { segmentId: segment.segmentId, entered, at })
  }
  clock.dueAt = next
  // This is not set to `now`: events since then that are read later keep their time.
  clock.settledAt = Math.max(last, made.at(-1)?.at ?? 0)
  changes.clocks.set(contact.id, contact)
}

/** Changes by time have no event and belong to no chain, although an item may settle them. */
function withoutEvent({ event: _, chain: __, ...context }: DecisionContext): DecisionContext {
  return context
}

/** Adds the changes of one rule from `from` to `to`, both included. Returns the instant of the next change. */
function changesOf(
  segment: CompiledSegment,
  view: SegmentFacts,
  { clock }: WatchedFacts,
  from: number,
  to: number,
  made: ChangeByTime[],
): number | null {
  let isMember = segment.test(view, from - 1)
  let at = segment.nextChange(view, from - 1, isMember)
  while (at !== null && at <= to) {
    isMember = !isMember
    const fixing = segment.fixedBy(view, at)
    const isSilent = fixing.length > 0 && fixing.every((fact) => clock.bulkFacts.has(fact))
    made.push({ segment, entered: isMember, at, isSilent })
    at = segment.nextChange(view, at, isMember)
  }
  return at
}
