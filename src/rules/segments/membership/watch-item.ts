/**
 * The item that changes membership settles it (segments, "Membership"). The rules that read a fact are evaluated before
 * the item changes the fact, and again after the item. A different answer is a change of membership. Rows of members
 * are never read.
 */
import { startBySegment } from '../../campaigns/enrolment.ts'
import { type Changes, type DecisionContext, deltaOf } from '../../changes.ts'
import type { Item } from '../../item.ts'
import { UnreadError } from '../../limits.ts'
import type { BusinessState } from '../../business-state.ts'
import type { ContactState } from '../../state.ts'
import { changeMembership } from './change-membership.ts'
import { type CompiledSegment, compileSegments } from '../compile/compile-segments.ts'
import type { FactKey, SegmentFacts } from './facts.ts'
import { settleTime } from './settle-time.ts'
import { viewFacts } from './view-facts.ts'
import {
  type ContactWatch,
  type ItemWatch,
  type SegmentClock,
  type WatchedFacts,
  isLeftToWorker,
  timeOf,
} from './watched-facts.ts'

/** Returns undefined when the business has no segments. */
export function beginWatch({ state, decidedAt }: DecisionContext, item: Item): ItemWatch | undefined {
  const segments = state.businesses.get(item.businessId)?.segments
  if (!segments) return undefined
  const isPast = item.index !== null || (item.kind === 'subscribe' && item.at !== undefined)
  // A replayed erasure settles what time did up to its receipt, and not more.
  const isBulk = isPast || (item.isReplay && item.kind !== 'erase')
  const now = isBulk ? Math.max(decidedAt, item.receivedAt) : item.receivedAt
  return { segments, isBulk, now, contacts: new Map() }
}

/**
 * Call it before a fact of a contact changes, and apply the same change to the result. Returns null when no segment
 * reads the fact. Throws UnreadError when the contact's facts were not read.
 */
export function watchFact(context: DecisionContext, contact: ContactState, fact: FactKey): WatchedFacts | null {
  const segments = context.watch?.segments.byFact.get(fact)
  if (!segments) return null
  const facts = requireFacts(context, contact)
  const watched = watchContact(context, contact, facts)
  remember(context, contact, facts, watched, segments)
  for (const key of context.watch?.segments.timesOf.get(fact) ?? [])
    if (!watched.times.has(key)) watched.times.set(key, timeOf(facts, key))
  deltaOf(context.changes, contact.id).changesWatched = true
  return facts
}

/** Returns the facts of a contact, to find out whether a fact would change; null when no segment reads the fact. */
export function readWatched(context: DecisionContext, contact: ContactState, fact: FactKey): WatchedFacts | null {
  return context.watch?.segments.byFact.has(fact) ? requireFacts(context, contact) : null
}

/** Call it after a custom field was created: the rules that name it did not know its type. */
export function recompileFor({ watch }: DecisionContext, business: BusinessState, key: string): void {
  if (!watch?.segments.byFact.has(`field:${key}`)) return
  watch.segments = compileSegments(business.segmentRules, business.fields)
  business.segments = watch.segments
}

/** Call it for a contact that the item creates. */
export function watchNewContact(context: DecisionContext, contact: ContactState): void {
  const { watch } = context
  if (!watch || !contact.facts) return
  const watched: ContactWatch = { before: new Map(), times: new Map([['createdAt', undefined]]), isNew: true }
  watch.contacts.set(contact.id, watched)
  for (const { no } of watch.segments.ofNewContacts) watched.before.set(no, false)
}

/**
 * Evaluates the rules that the item may have changed, records the changes, and moves the clock. Call it at the end of
 * the item.
 */
export function settleItem(context: DecisionContext): void {
  const { watch, state } = context
  if (!watch) return
  for (const [id, watched] of watch.contacts) {
    const contact = state.contacts.get(id)
    if (contact?.facts && !state.mergedInto.has(id)) settleContact(context, watch, contact, contact.facts, watched)
  }
}

/**
 * Does the same for one contact before it is merged. Later changes by the item are compared with the contact at that
 * time.
 */
export function settleBeforeMerge(context: DecisionContext, contact: ContactState, facts: WatchedFacts): void {
  const { watch } = context
  const watched = watch?.contacts.get(contact.id)
  if (watch && watched) settleContact(context, watch, contact, facts, watched, 'merge')
  watch?.contacts.delete(contact.id)
}

/** Records changes that were due before a contact is erased. The save ends the remaining memberships. */
export function settleBeforeErasure(context: DecisionContext, contact: ContactState): void {
  const { watch } = context
  if (!watch || watch.segments.timed.length === 0) return
  const facts = requireFacts(context, contact)
  settleTime(context, watch.segments, contact, facts, nowFor(watch, facts))
}

function settleContact(
  context: DecisionContext,
  watch: ItemWatch,
  contact: ContactState,
  facts: WatchedFacts,
  { before, times, isNew }: ContactWatch,
  cause: 'live' | 'bulk' | 'merge' = watch.isBulk ? 'bulk' : 'live',
): void {
  const now = nowFor(watch, facts)
  const view = viewFacts(contact, facts)
  const refresh = isNew ? context.changes.windowRefreshes.get(contact.id) : undefined
  if (refresh) {
    Object.assign(refresh, { isNew: true, cause: refresh.cause ?? cause })
    facts.isUndecided = true
  }
  let { dueAt, settledAt } = facts.clock
  for (const [no, was] of before) {
    const segment = watch.segments.byNumber.get(no)
    if (!segment) continue
    const is = segment.test(view, now)
    if (is !== was && !isLeftToWorker(segment, facts)) {
      changeMembership(context.changes, contact, segment, { entered: is, at: now, cause })
      if (cause === 'live' && !segment.isBuilding)
        startBySegment(context, contact, { segmentId: segment.segmentId, entered: is, at: now })
      settledAt = now
    }
    if (!segment.isTimed) continue
    dueAt = earlierOf(dueAt, segment.nextChange(view, now, is))
    settledAt = Math.max(settledAt, segment.lastChange(view, now))
  }
  const isMarked = markBulk(watch, facts, times)
  moveClock(context.changes, contact, facts, { dueAt, settledAt }, isMarked)
}

/** Marks the clock for saving when it moved, or when `isMarked`. */
export function moveClock(
  { clocks }: Changes,
  contact: ContactState,
  { clock }: WatchedFacts,
  { dueAt, settledAt }: Pick<SegmentClock, 'dueAt' | 'settledAt'>,
  isMarked = false,
): void {
  if (dueAt === clock.dueAt && settledAt === clock.settledAt && !isMarked) return
  Object.assign(clock, { dueAt, settledAt })
  clocks.set(contact.id, contact)
}

export const earlierOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** Records which times a batch has set. Returns true when that changed. */
function markBulk(watch: ItemWatch, { clock, ...facts }: WatchedFacts, times: ContactWatch['times']): boolean {
  let isMarked = false
  for (const [key, was] of times) {
    if (!watch.segments.timedBy.has(key)) continue
    const isChanged = key === 'createdAt' || timeOf(facts, key) !== was
    if (!isChanged || clock.bulkFacts.has(key) === watch.isBulk) continue
    if (watch.isBulk) clock.bulkFacts.add(key)
    else clock.bulkFacts.delete(key)
    isMarked = true
  }
  return isMarked
}

function watchContact(context: DecisionContext, contact: ContactState, facts: WatchedFacts): ContactWatch {
  const watch = context.watch!
  const known = watch.contacts.get(contact.id)
  if (known) return known
  // Changes that were due before this item come first, with their own cause.
  settleTime(context, watch.segments, contact, facts, nowFor(watch, facts))
  const watched: ContactWatch = { before: new Map(), times: new Map(), isNew: false }
  watch.contacts.set(contact.id, watched)
  return watched
}

function remember(
  { watch }: DecisionContext,
  contact: ContactState,
  facts: WatchedFacts,
  { before, isNew }: ContactWatch,
  segments: CompiledSegment[],
): void {
  let view: SegmentFacts | undefined
  for (const segment of segments) {
    if (before.has(segment.no)) continue
    view ??= viewFacts(contact, facts)
    before.set(segment.no, !isNew && segment.test(view, nowFor(watch!, facts)))
  }
}

function requireFacts({ state }: DecisionContext, contact: ContactState): WatchedFacts {
  if (!contact.facts) throw new UnreadError(state, contact)
  return contact.facts
}

/**
 * Returns the time of the item, but not before the last settled change: an item may be decided after others that were
 * received later.
 */
export const nowFor = ({ now }: Pick<ItemWatch, 'now'>, { clock }: WatchedFacts): number =>
  Math.max(now, clock.settledAt)
