import { startBySegment } from '../../campaigns/enrolment.ts'
import { type Changes, type DecisionContext, deltaOf } from '../../changes.ts'
import type { ContactState } from '../../state.ts'
import { changeMembership, hasChanged } from '../membership/change-membership.ts'
import type { CompiledSegment, CompiledSegments } from '../compile/compile-segments.ts'
import type { SegmentFacts } from '../membership/facts.ts'
import type { MembershipChange } from '../membership/segment-changes.ts'
import { settleTime } from '../membership/settle-time.ts'
import { viewFacts } from '../membership/view-facts.ts'
import { type Period, type StepValue, type WindowStep, type WindowWalk, walkWindows } from './walk-windows.ts'
import { earlierOf, moveClock } from '../membership/watch-item.ts'
import type { SegmentClock, WatchedFacts } from '../membership/watched-facts.ts'
import type { WindowReading } from './window-reading.ts'
import type { Window } from './windows-of.ts'

type Cause = MembershipChange['cause']

/** The readings of the timeline for one contact. */
export interface WindowNews extends Period {
  /** The windows that were read. A window without a reading has no event. */
  windows: readonly Window[]
  readings: ReadonlyMap<string, WindowReading>
  /** The cause of differences from the values at the beginning of the period. */
  cause: Cause
  /** True when no rule on windows has been evaluated for the contact yet. */
  isNew?: boolean
}

/**
 * Updates the counts and sums of a contact. Records the resulting changes in its segments, and the changes that are due
 * by time until then: each change at its instant and with its own cause.
 */
export function settleWindows(
  context: DecisionContext,
  segments: CompiledSegments,
  contact: ContactState,
  news: WindowNews,
): void {
  const { facts } = contact
  if (!facts) throw new Error(`the facts of contact ${contact.id} were not loaded`)
  const windows = news.windows.filter(({ key }) => segments.windows.has(key))
  const walk = walkWindows(windows, news.readings, news)
  const steps = [...beginningOf(walk, facts, news), ...walk.steps.map(toDatedStep)]
  recordWindows(context.changes, contact, facts, walk)
  if (news.isNew) {
    facts.isUndecided = false
    // Other workers may have read that it is undecided.
    deltaOf(context.changes, contact.id).changesWatched = true
  }
  const settling: Settling = { context, segments, contact, facts, starts: [] }
  steps.forEach((step, place) => {
    const isLast = place === steps.length - 1
    applyStep(settling, isLast && isUndated(step) ? { ...step, at: Math.max(step.at, news.until) } : step)
  })
  if (news.isNew) leaveOthers(settling, news)
  for (const start of settling.starts) startBySegment(context, contact, start)
}

/**
 * Removes a new contact from segments that it does not belong to. An item that did not know the windows may have
 * entered it there.
 */
function leaveOthers({ context, segments, contact, facts }: Settling, { until, cause }: WindowNews): void {
  const { changes } = context
  const view = viewFacts(contact, facts)
  const at = Math.max(until, facts.clock.settledAt)
  for (const segment of segments.all) {
    if (!segment.isWindowed || hasChanged(changes, contact, segment) || segment.test(view, at)) continue
    changeMembership(changes, contact, segment, { entered: false, at, cause })
  }
}

interface DatedStep extends WindowStep {
  /** The cause of changes that time does not make. */
  cause: Cause
  /** True when rules on windows have no answer before this step. */
  isNew?: boolean
}

/** Silent changes get the time at which they are settled, unless other steps follow. */
const isUndated = ({ isByTime, cause }: DatedStep): boolean => !isByTime && cause !== 'live'

function toDatedStep(step: WindowStep): DatedStep {
  return { ...step, cause: [...step.values.values()].every(({ isBulk }) => isBulk) ? 'bulk' : 'live' }
}

function beginningOf(
  { before }: WindowWalk,
  facts: WatchedFacts,
  { from, cause, isNew = false }: WindowNews,
): DatedStep[] {
  const values = new Map<string, StepValue>()
  for (const [key, value] of before) if (facts.windows.get(key) !== value) values.set(key, { value, isBulk: false })
  return values.size > 0 || isNew ? [{ at: from, isByTime: false, values, cause, isNew }] : []
}

function recordWindows(
  { windows }: Changes,
  { id: contactId, businessId }: ContactState,
  facts: WatchedFacts,
  { after }: WindowWalk,
): void {
  const made = [...after].flatMap(([key, { value, nextAt }]) => {
    const isOther = facts.windows.get(key) !== value
    if (!isOther && (facts.windowsDue.get(key) ?? null) === nextAt) return []
    return [{ businessId, contactId, key, value: value ?? null, nextAt, isOther }]
  })
  if (made.length > 0) windows.set(contactId, made)
}

interface Settling {
  context: DecisionContext
  segments: CompiledSegments
  contact: ContactState
  facts: WatchedFacts
  /**
   * Segment changes that start campaigns once everything is settled. An entry that is undone immediately does not start
   * one.
   */
  starts: { segmentId: string; entered: boolean; at: number }[]
}

function applyStep(settling: Settling, step: DatedStep): void {
  const { context, segments, contact, facts } = settling
  const { changes } = context
  const { clock } = facts
  const { settledAt } = clock
  const at = Math.max(step.at, settledAt)
  // What else time changes at this very instant is settled together with the windows, unless it is settled already.
  const isOnTime = step.isByTime && step.at > settledAt
  const since = isOnTime ? at - 1 : at
  settleTime(context, segments, contact, facts, since)
  const isClockDue = isOnTime && clock.dueAt !== null && clock.dueAt <= at
  const view = viewFacts(contact, facts)
  const touched = touchedBy(segments, step, isClockDue).map((segment) => {
    const own = instantOf(segment, step, view, clock)
    return { segment, at: own, was: !step.isNew && segment.test(view, isOnTime ? since : own) }
  })
  for (const [key, { value }] of step.values) {
    if (value === undefined) facts.windows.delete(key)
    else facts.windows.set(key, value)
  }
  for (const { segment, at: own, was } of touched) {
    const entered = segment.test(view, own)
    if (entered === was) continue
    const cause = step.isByTime ? causeByTime(segment, step, facts, segment.fixedBy(view, own)) : step.cause
    recordChange(settling, segment, { entered, at: own, cause, isByTime: step.isByTime })
    clock.settledAt = Math.max(clock.settledAt, own)
    changes.clocks.set(contact.id, contact)
  }
  if (isClockDue) {
    clock.dueAt = null
    clock.settledAt = at
    changes.clocks.set(contact.id, contact)
  }
  const rules = touched.map(({ segment }) => segment)
  wakeEarlier(changes, contact, facts, rules, at)
}

/**
 * When a step changes a rule: not before what was settled of that rule. What time has changed in others since then does not matter to
 * it. Nor do other facts, if it reads none.
 */
function instantOf(
  { no, reads, lastChange }: CompiledSegment,
  { at, isByTime }: DatedStep,
  view: SegmentFacts,
  { changedAt, settledAt }: SegmentClock,
): number {
  const isAlone = isByTime || [...reads].every((key) => key.startsWith('window:'))
  if (at >= settledAt || !isAlone) return Math.max(at, settledAt)
  return Math.max(at, changedAt.get(no) ?? 0, lastChange(view, settledAt, at))
}

function recordChange(
  { context, contact, starts }: Settling,
  segment: CompiledSegment,
  change: Pick<MembershipChange, 'entered' | 'at' | 'cause' | 'isByTime'>,
): void {
  const { segmentId } = segment
  const isUndone = !changeMembership(context.changes, contact, segment, change)
  if (isUndone) {
    const last = starts.findLastIndex((start) => start.segmentId === segmentId)
    if (starts[last]?.entered === !change.entered) starts.splice(last, 1)
  } else if (!segment.isBuilding && (change.cause === 'live' || change.cause === 'time')) {
    starts.push({ segmentId, entered: change.entered, at: change.at })
  }
}

function touchedBy(segments: CompiledSegments, { values, isNew }: DatedStep, isClockDue: boolean): CompiledSegment[] {
  const touched = new Set<CompiledSegment>(isClockDue ? segments.timed : [])
  for (const key of values.keys())
    for (const segment of segments.byFact.get(`window:${key}`) ?? []) touched.add(segment)
  if (isNew) for (const segment of segments.all) if (segment.isWindowed) touched.add(segment)
  return [...touched]
}

/** A change by time is silent when all facts that determine its instant came in batches. */
function causeByTime(
  segment: CompiledSegment,
  { values }: DatedStep,
  { clock }: WatchedFacts,
  fixing: ReturnType<CompiledSegment['fixedBy']>,
): Cause {
  const left = [...values].filter(([key]) => segment.reads.has(`window:${key}`))
  const isSilent = left.every(([, { isBulk }]) => isBulk) && fixing.every((key) => clock.bulkFacts.has(key))
  return isSilent ? 'bulk' : 'time'
}

/** Sets the clock to the next change of these rules if that is earlier. */
function wakeEarlier(
  changes: Changes,
  contact: ContactState,
  facts: WatchedFacts,
  touched: readonly CompiledSegment[],
  at: number,
): void {
  const view = viewFacts(contact, facts)
  let { dueAt, settledAt } = facts.clock
  for (const segment of touched) {
    if (!segment.isTimed) continue
    dueAt = earlierOf(dueAt, segment.nextChange(view, at))
    settledAt = Math.max(settledAt, segment.lastChange(view, at))
  }
  moveClock(changes, contact, facts, { dueAt, settledAt })
}
