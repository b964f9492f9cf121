/**
 * Merges two contacts that turn out to be one person (decisions, "Merge arithmetic"). This merges the working copy; the
 * save merges the rows in Postgres.
 */
import { addAmounts } from '../events/money.ts'
import { mergeTags } from '../events/add-tags.ts'
import { mergeCleared } from '../events/apply-traits.ts'
import { type Changes, type ConsentChange, type DecisionContext, type MergeLogEntry, deltaOf } from '../changes.ts'
import type { ContactDelta } from '../contact-delta.ts'
import { watchMerge } from '../segments/membership/watch-merge.ts'
import { checkGoals, endEnrolment } from '../campaigns/goals.ts'
import { mergePasts } from '../campaigns/merge-pasts.ts'
import { CHANNELS } from '../events/facts.ts'
import { mergeProfiles } from './fill-profile.ts'
import { addStatistic } from '../events/add-statistic.ts'
import type { BrowserCount, ContactState, EnrolmentState, StoredConsent, State } from '../state.ts'
import { wins } from '../events/traits.ts'
import type { TopicChannel } from '../topics/topic.ts'

export interface MergeReason {
  evidence: MergeLogEntry['evidence']
  at: number
  newId: () => string
}

/** Merges both and returns the survivor: the older one, by `createdAt`, then by `contactId`. */
export function mergeContacts(
  context: DecisionContext,
  a: ContactState,
  b: ContactState,
  reason: MergeReason,
): ContactState {
  const [survivor, loser] = isOlder(a, b) ? [a, b] : [b, a]
  const { state, changes } = context
  const { businessId } = survivor
  const settle = watchMerge(context, survivor, loser)
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
  mergeIdentities(state, survivor, loser)
  mergeEnrolments({ state, changes }, survivor, loser, reason.at)
  mergeSubscriptions(changes, survivor, loser)
  mergeTopics(changes, survivor, loser)
  mergeTags({ state, changes }, survivor, loser)
  survivor.cleared = mergeCleared(survivor, loser)
  survivor.browsers = mergeCounts(survivor.browsers, loser.browsers)
  foldDelta(deltaOf(changes, survivor.id), changes.deltas.get(loser.id))
  changes.deltas.delete(loser.id)
  deltaOf(changes, survivor.id).raisesVersion = true
  mergeProfiles(state, changes, survivor, loser)
  settle?.()
  checkGoals(state, changes, survivor, reason.at)
  return survivor
}

const mergeCounts = (ours: BrowserCount | null, theirs: BrowserCount | null): BrowserCount | null =>
  ours && theirs && { listed: ours.listed + theirs.listed, waiting: ours.waiting + theirs.waiting }

function isOlder(a: ContactState, b: ContactState): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id)
}

function mergeIdentities(state: State, survivor: ContactState, loser: ContactState): void {
  survivor.keyed ||= loser.keyed
  survivor.identities = [...survivor.identities, ...loser.identities]
  for (const { kind, value } of loser.identities) state.owners[kind].set(survivor.businessId, value, survivor.id)
  loser.identities = []
}

/**
 * Of two active enrolments in a campaign, and of one key, the earlier one stays (by instant, then by receipt). Ended ones do not
 * change.
 */
function mergeEnrolments(
  { state, changes }: Pick<DecisionContext, 'state' | 'changes'>,
  survivor: ContactState,
  loser: ContactState,
  at: number,
): void {
  for (const theirs of loser.enrolments.filter((enrolment) => enrolment.state === 'active')) {
    const ours = survivor.enrolments.find((own) => isSameActive(own, theirs))
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
  mergePasts(state, changes, survivor, loser)
}

const isSameActive = (own: EnrolmentState, theirs: EnrolmentState): boolean =>
  own.state === 'active' && own.campaignId === theirs.campaignId && own.key === theirs.key

function mergeSubscriptions({ subscriptions }: Changes, survivor: ContactState, loser: ContactState): void {
  const change = { of: subscriptions, ours: survivor.id, theirs: loser.id }
  for (const channel of CHANNELS) mergeChoice(change, channel, survivor.subscriptions, loser.subscriptions)
}

function mergeTopics({ topicChoices }: Changes, survivor: ContactState, loser: ContactState): void {
  const change = { of: topicChoices, ours: survivor.id, theirs: loser.id }
  for (const name of Object.keys(loser.topics) as TopicChannel[])
    mergeChoice(change, name, survivor.topics, loser.topics)
}

/**
 * If both have the same consent, the survivor's record stays. The save merges the consents in Postgres, then writes the
 * changes of this batch. If the merged consent in Postgres would undo one of these changes, the change is written,
 * whichever contact made it.
 */
function mergeChoice<Name extends string, Choice extends ConsentChange>(
  changes: { of: Map<string, Choice>; ours: string; theirs: string },
  name: Name,
  survivor: Partial<Record<Name, StoredConsent>>,
  loser: Partial<Record<Name, StoredConsent>>,
): void {
  const [ours, theirs] = [survivor[name], loser[name]]
  const [ourKey, theirKey] = [`${changes.ours} ${name}`, `${changes.theirs} ${name}`]
  const [ourChange, theirChange] = [changes.of.get(ourKey), changes.of.get(theirKey)]
  const existing = mergeConsents(ours, theirs)
  if (!existing) return
  const was = mergeConsents(ourChange ? ourChange.was : ours, theirChange ? theirChange.was : theirs)
  const isUndone = was?.subscribed !== existing.subscribed
  const choice = existing === ours ? (ourChange ?? (isUndone ? theirChange : undefined)) : theirChange
  survivor[name] = choice ? { subscribed: choice.subscribed, at: choice.recordedAt } : existing
  changes.of.delete(ourKey)
  changes.of.delete(theirKey)
  if (choice) changes.of.set(ourKey, { ...choice, contactId: changes.ours, was })
}

/** An explicit opt-out beats an opt-in. A missing record restricts nothing. */
const mergeConsents = (ours: StoredConsent | undefined, theirs: StoredConsent | undefined): StoredConsent | undefined =>
  !ours || (theirs && ours.subscribed && !theirs.subscribed) ? theirs : ours

/** Adds the loser's changes in this batch to those of the survivor. */
function foldDelta(into: ContactDelta, from: ContactDelta | undefined): void {
  if (!from) return
  into.keyed ||= from.keyed
  into.changesWatched ||= from.changesWatched
  into.stage = Math.max(into.stage, from.stage)
  into.orders += from.orders
  for (const tag of from.tags) into.tags.add(tag)
  for (const [key, trait] of from.traits) {
    const existing = into.traits.get(key)
    if (!existing || wins(trait, existing)) into.traits.set(key, trait)
  }
  for (const [event, theirs] of from.statistics) addStatistic(into.statistics, event, theirs)
  for (const [currency, amount] of from.revenue)
    into.revenue.set(currency, addAmounts(into.revenue.get(currency) ?? '0', amount))
}
