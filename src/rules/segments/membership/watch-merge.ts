import { type DecisionContext, deltaOf } from '../../changes.ts'
import { addAmounts } from '../../events/money.ts'
import { refreshForMerge } from '../windows/refresh-windows.ts'
import { addDecimals } from '../add-decimals.ts'
import { addStatistic } from '../../events/add-statistic.ts'
import { wins } from '../../events/traits.ts'
import { UnreadError } from '../../limits.ts'
import type { ContactState } from '../../state.ts'
import { changeMembership } from './change-membership.ts'
import { settleTime } from './settle-time.ts'
import { viewFacts } from './view-facts.ts'
import type { TimeKey } from './facts.ts'
import { type WatchedFacts, isLeftToWorker, timeOf } from './watched-facts.ts'
import { earlierOf, moveClock, nowFor, settleBeforeMerge } from './watch-item.ts'

/**
 * Call it before two contacts are merged, and call the returned function afterwards. The loser leaves its segments. The
 * survivor enters and leaves segments according to the combined facts (segments, "Membership"). Returns undefined when
 * the business has no segments.
 */
export function watchMerge(
  context: DecisionContext,
  survivor: ContactState,
  loser: ContactState,
): (() => void) | undefined {
  const { watch, changes, state } = context
  if (!watch) return undefined
  const [ours, theirs] = [survivor.facts, loser.facts]
  if (!ours || !theirs) throw new UnreadError(state, survivor, loser)
  const both = [[survivor, ours] as const, [loser, theirs] as const]
  for (const [contact, facts] of both) settleBeforeMerge(context, contact, facts)
  const now = Math.max(nowFor(watch, ours), nowFor(watch, theirs))
  for (const [contact, facts] of both) settleTime(context, watch.segments, contact, facts, now)
  const was = watch.segments.all.map((segment) => ({
    segment,
    survivor: segment.test(viewFacts(survivor, ours), now),
    loser: segment.test(viewFacts(loser, theirs), now),
  }))
  return () => {
    uniteFacts(ours, theirs, tagsAfterMerge(context, survivor, theirs))
    const view = viewFacts(survivor, ours)
    const cause = 'merge' as const
    for (const { segment, survivor: ofSurvivor, loser: ofLoser } of was) {
      if (ofLoser) changeMembership(changes, loser, segment, { entered: false, at: now, cause })
      const is = segment.test(view, now)
      if (is !== ofSurvivor && !isLeftToWorker(segment, ours))
        changeMembership(changes, survivor, segment, { entered: is, at: now, cause })
      // What windows change before now is unknown of the facts of both.
      if (segment.isWindowed) ours.clock.changedAt.set(segment.no, now)
    }
    refreshForMerge(context, survivor, watch.now)
    const dueAt = watch.segments.timed.map((segment) => segment.nextChange(view, now)).reduce(earlierOf, null)
    moveClock(changes, survivor, ours, { dueAt, settledAt: now }, true)
    changes.clocks.delete(loser.id)
    deltaOf(changes, survivor.id).changesWatched = true
  }
}

/** Throws UnreadError when the tags were not read and may exceed the limit: it is then unknown which tags remain. */
function tagsAfterMerge(
  { state }: DecisionContext,
  survivor: ContactState,
  { tags }: WatchedFacts,
): ContactState['tags'] {
  if (survivor.tags === null && tags.size > 0) throw new UnreadError(state, survivor)
  return survivor.tags
}

/** Combines the facts like merge_contacts.sql combines the rows. */
function uniteFacts(ours: WatchedFacts, theirs: WatchedFacts, tags: ContactState['tags']): void {
  const before = { statistics: new Map(ours.statistics), traits: new Map(ours.traits) }
  for (const [event, statistic] of theirs.statistics) addStatistic(ours.statistics, event, statistic)
  for (const [key, trait] of theirs.traits) {
    const own = ours.traits.get(key)
    if (!own || wins(trait, own)) ours.traits.set(key, trait)
  }
  for (const tag of theirs.tags) if (!(tags instanceof Set) || tags.has(tag)) ours.tags.add(tag)
  for (const [currency, amount] of theirs.revenue)
    ours.revenue.set(currency, addAmounts(ours.revenue.get(currency) ?? '0', amount))
  ours.orderCount += theirs.orderCount
  ours.stage = Math.max(ours.stage, theirs.stage)
  for (const [key, value] of theirs.windows) ours.windows.set(key, addDecimals(ours.windows.get(key) ?? '0', value))
  for (const [key, at] of theirs.windowsDue) ours.windowsDue.set(key, Math.min(ours.windowsDue.get(key) ?? at, at))
  uniteBulkFacts(ours, theirs, before)
}

/** A fact counts as set by a batch when a batch set the value that remains. */
function uniteBulkFacts(
  ours: WatchedFacts,
  theirs: WatchedFacts,
  before: Pick<WatchedFacts, 'statistics' | 'traits'>,
): void {
  const isOurs = (key: TimeKey) => key === 'createdAt' || timeOf(ours, key) === timeOf(before, key)
  const kept = [...ours.clock.bulkFacts].filter(isOurs)
  const taken = [...theirs.clock.bulkFacts].filter((key) => key !== 'createdAt' && !isOurs(key))
  ours.clock.bulkFacts = new Set([...kept, ...taken])
}
