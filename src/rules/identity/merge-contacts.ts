/** Two contacts turn out to be one person (decisions, "Merge arithmetic"). The sums of Postgres are united by the save; here the working copy is. */
import { addAmounts } from '../events/money.ts'
import { uniteTags } from '../events/add-tags.ts'
import { uniteCleared } from '../events/apply-traits.ts'
import { type Changes, type ContactDelta, type MergeLogEntry, deltaOf } from '../changes.ts'
import { endEnrolment, settleGoals } from '../campaigns/enrolment.ts'
import { CHANNELS } from '../events/facts.ts'
import { uniteProfiles } from './fill-profile.ts'
import { addStatistic } from '../events/record-event.ts'
import { type BrowserCount, type ContactState, type StoredConsent, type State, identityKey } from '../state.ts'
import { wins } from '../events/traits.ts'

export interface MergeReason {
  evidence: MergeLogEntry['evidence']
  at: number
  newId: () => string
}

/** Merges both and gives the survivor: the oldest, by `createdAt`, then `contactId`. */
export function mergeContacts(
  state: State,
  changes: Changes,
  a: ContactState,
  b: ContactState,
  reason: MergeReason,
): ContactState {
  const [survivor, loser] = isOlder(a, b) ? [a, b] : [b, a]
  const { businessId } = survivor
  state.mergedInto.set(loser.id, survivor.id)
  changes.merges.push({ businessId, losingId: loser.id, survivingId: survivor.id })
  changes.mergeLog.push({
    businessId,
    id: reason.newId(),
    action: 'merged',
    contactId: survivor.id,
    losingId: loser.id,
    evidence: reason.evidence,
    recordedAt: reason.at,
  })
  uniteIdentities(state, survivor, loser)
  uniteEnrolments(changes, survivor, loser, reason.at)
  uniteSubscriptions(changes, survivor, loser)
  uniteTags({ state, changes }, survivor, loser)
  survivor.cleared = uniteCleared(survivor, loser)
  survivor.browsers = uniteCounts(survivor.browsers, loser.browsers)
  foldDelta(deltaOf(changes, survivor.id), changes.deltas.get(loser.id))
  changes.deltas.delete(loser.id)
  deltaOf(changes, survivor.id).raisesVersion = true
  uniteProfiles(state, changes, survivor, loser)
  settleGoals(state, changes, survivor, reason.at)
  return survivor
}

const uniteCounts = (ours: BrowserCount | null, theirs: BrowserCount | null): BrowserCount | null =>
  ours && theirs && { listed: ours.listed + theirs.listed, waiting: ours.waiting + theirs.waiting }

function isOlder(a: ContactState, b: ContactState): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id)
}

function uniteIdentities(state: State, survivor: ContactState, loser: ContactState): void {
  survivor.keyed ||= loser.keyed
  survivor.identities = [...survivor.identities, ...loser.identities]
  for (const held of loser.identities)
    state.owners.set(identityKey(survivor.businessId, held.kind, held.value), survivor.id)
  loser.identities = []
}

/** Of two active enrolments in a campaign the earlier stays (by instant, then receipt); ended ones stay as they are. */
function uniteEnrolments(changes: Changes, survivor: ContactState, loser: ContactState, at: number): void {
  for (const theirs of loser.enrolments.filter((enrolment) => enrolment.state === 'active')) {
    const ours = survivor.enrolments.find((own) => own.state === 'active' && own.campaignId === theirs.campaignId)
    if (!ours) continue
    const theirsIsEarlier =
      theirs.enrolledAt < ours.enrolledAt ||
      (theirs.enrolledAt === ours.enrolledAt && theirs.receivedAt < ours.receivedAt)
    endEnrolment(changes, survivor.businessId, theirsIsEarlier ? ours : theirs, 'merged', at)
  }
  survivor.enrolments = [...survivor.enrolments, ...loser.enrolments]
  loser.enrolments = []
  for (const [event, lastAt] of loser.goalLastAt)
    survivor.goalLastAt.set(event, Math.max(lastAt, survivor.goalLastAt.get(event) ?? -Infinity))
}

/**
 * Of two equal choices the survivor's record stays. The save unites what Postgres has of both contacts, and then writes the
 * choices of this batch. A choice that only a stored opt-out could undo is written, whichever of the two made it.
 */
function uniteSubscriptions({ subscriptions }: Changes, survivor: ContactState, loser: ContactState): void {
  for (const channel of CHANNELS) {
    const [ours, theirs] = [survivor.subscriptions[channel], loser.subscriptions[channel]]
    const [ourKey, theirKey] = [`${survivor.id} ${channel}`, `${loser.id} ${channel}`]
    const [ourChoice, theirChoice] = [subscriptions.get(ourKey), subscriptions.get(theirKey)]
    const held = uniteChoices(ours, theirs)
    if (!held) continue
    const was = uniteChoices(ourChoice ? ourChoice.was : ours, theirChoice ? theirChoice.was : theirs)
    const isUndone = was?.subscribed !== held.subscribed
    const choice = held === ours ? (ourChoice ?? (isUndone ? theirChoice : undefined)) : theirChoice
    survivor.subscriptions[channel] = choice ? { subscribed: choice.subscribed, at: choice.recordedAt } : held
    subscriptions.delete(ourKey)
    subscriptions.delete(theirKey)
    if (choice) subscriptions.set(ourKey, { ...choice, contactId: survivor.id, was })
  }
}

/** An explicit opt-out beats an opt-in; no record restricts nothing. */
const uniteChoices = (ours: StoredConsent | undefined, theirs: StoredConsent | undefined): StoredConsent | undefined =>
  !ours || (theirs && ours.subscribed && !theirs.subscribed) ? theirs : ours

/** What this batch had done to the loser so far is the survivor's. */
function foldDelta(into: ContactDelta, from: ContactDelta | undefined): void {
  if (!from) return
  into.keyed ||= from.keyed
  into.stage = Math.max(into.stage, from.stage)
  into.orders += from.orders
  for (const tag of from.tags) into.tags.add(tag)
  for (const [key, trait] of from.traits) {
    const held = into.traits.get(key)
    if (!held || wins(trait, held)) into.traits.set(key, trait)
  }
  for (const [event, theirs] of from.statistics) addStatistic(into.statistics, event, theirs)
  for (const [currency, amount] of from.revenue)
    into.revenue.set(currency, addAmounts(into.revenue.get(currency) ?? '0', amount))
}
