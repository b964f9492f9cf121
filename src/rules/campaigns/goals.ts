/** What ends the enrolments of a contact (decisions, "Campaigns"). */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import type { Campaign } from '../business-state.ts'
import { type ContactState, type EnrolmentEnd, type EnrolmentState, type State, pastKey } from '../state.ts'
import type { SeenEvent } from '../segments/compile/compile-where.ts'
import { ANY_KEY, fitOf } from './event-condition.ts'
import { isAllNew, pastOf } from './past-of-key.ts'

/** The parts of a campaign that decide what its goal is. */
export type WithGoal = Pick<Campaign, 'id' | 'goalEvent' | 'keyed'>

/**
 * Ends the enrolments in campaigns with this goal event. `lastAt` is the time of the latest event of that name. If the goal
 * was last reached at or after the enrolment, the enrolment ends as `converted`. If the goal is dated before the enrolment but
 * was recorded after it, the enrolment ends as `stopped`. The history of a browser counts as recorded when it was received.
 */
export function reachGoal(
  { state, changes }: DecisionContext,
  contact: ContactState,
  {
    event,
    lastAt,
    at,
    recordedAt = Infinity,
  }: { event: string; lastAt: number; at: number; recordedAt?: number | undefined },
): void {
  if (campaignsOf(state, contact).length === 0) return
  const campaigns = campaignsById(state, contact, ({ goalEvent, keyed }) => goalEvent === event && !keyed?.goal)
  if (campaigns.size === 0) return
  contact.goalLastAt.set(event, Math.max(lastAt, contact.goalLastAt.get(event) ?? -Infinity))
  deltaOf(changes, contact.id).raisesVersion = true
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.get(enrolment.campaignId)
    if (enrolment.state !== 'active' || !campaign) continue
    if (contact.goalLastAt.get(event)! >= enrolment.enrolledAt)
      endEnrolment(changes, contact.businessId, enrolment, 'converted', at)
    else if (recordedAt >= enrolment.receivedAt) endEnrolment(changes, contact.businessId, enrolment, 'stopped', at)
  }
}

/** The event may be the goal of campaigns whose goals have conditions. `at`: when this is decided. */
export interface PossibleGoal {
  event: string
  seen: SeenEvent
  occurredAt: number
  at: number
  recordedAt: number
}

/** As `reachGoal`, for goals with conditions: each event counts alone. */
export function reachConditionalGoals(
  { state, changes }: DecisionContext,
  contact: ContactState,
  { event, seen, occurredAt, at, recordedAt }: PossibleGoal,
): void {
  for (const { id: campaignId, goalEvent, keyed } of campaignsOf(state, contact)) {
    if (goalEvent !== event || !keyed?.goal || recordedAt < keyed.publishedAt) continue
    const key = fitOf(keyed.goal, seen)
    if (key === null) continue
    rememberGoal({ state, changes }, contact, { campaignId, key, occurredAt })
    for (const enrolment of contact.enrolments) {
      if (enrolment.state !== 'active' || enrolment.campaignId !== campaignId) continue
      if (key !== ANY_KEY && enrolment.key !== key) continue
      if (occurredAt >= enrolment.enrolledAt) endEnrolment(changes, contact.businessId, enrolment, 'converted', at)
      else if (recordedAt >= enrolment.receivedAt) endEnrolment(changes, contact.businessId, enrolment, 'stopped', at)
    }
  }
}

function rememberGoal(
  { state, changes }: Pick<DecisionContext, 'state' | 'changes'>,
  contact: ContactState,
  { campaignId, key, occurredAt }: { campaignId: string; key: string; occurredAt: number },
): void {
  const { businessId, id: contactId, pastOfKeys } = contact
  const name = `${contactId} ${pastKey(campaignId, key)}`
  const lastAt = Math.max(occurredAt, changes.goalTimes.get(name)?.lastAt ?? -Infinity)
  changes.goalTimes.set(name, { businessId, contactId, campaignId, key, lastAt })
  const past = pastOfKeys.get(pastKey(campaignId, key))
  if (past || key === ANY_KEY || isAllNew(state, contact)) {
    const goalAt = Math.max(occurredAt, past?.goalAt ?? -Infinity)
    pastOfKeys.set(pastKey(campaignId, key), { wasEntered: past?.wasEntered ?? false, goalAt })
  }
  deltaOf(changes, contactId).raisesVersion = true
}

/** Checks the goals of all active enrolments once, after a merge has combined the statistics. */
export function checkGoals(state: State, changes: Changes, contact: ContactState, at: number): void {
  if (contact.enrolments.length === 0) return
  const campaigns = campaignsById(state, contact, (campaign) => campaign.goalEvent !== null)
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.get(enrolment.campaignId)
    if (enrolment.state === 'active' && campaign && isGoalReached(state, campaign, contact, enrolment))
      endEnrolment(changes, contact.businessId, enrolment, 'converted', at)
  }
}

/** Returns whether the goal was reached at or after the instant of the enrolment. */
export function isGoalReached(
  state: State,
  campaign: WithGoal,
  contact: Pick<ContactState, 'goalLastAt'> & Partial<ContactState>,
  { key, enrolledAt }: Pick<EnrolmentState, 'key' | 'enrolledAt'>,
): boolean {
  const lastAt = lastGoalOf(state, campaign, contact, key)
  return lastAt !== undefined && lastAt !== null && lastAt >= enrolledAt
}

function lastGoalOf(
  state: State,
  { id, goalEvent, keyed }: WithGoal,
  contact: Pick<ContactState, 'goalLastAt'> & Partial<ContactState>,
  key: string | null,
): number | null | undefined {
  if (goalEvent === null) return null
  if (!keyed?.goal) return contact.goalLastAt.get(goalEvent)
  if (keyed.goal.readKey === null) return contact.pastOfKeys?.get(pastKey(id, ANY_KEY))?.goalAt
  return key === null ? null : pastOf(state, contact as ContactState, id, key).goalAt
}

export function endEnrolment(
  changes: Changes,
  businessId: string,
  enrolment: EnrolmentState,
  end: EnrolmentEnd,
  at: number,
): void {
  enrolment.state = end
  enrolment.endedAt = at
  const { contactId, campaignId, key } = enrolment
  changes.effects?.push({ kind: 'ended', contactId, campaignId, key, state: end })
  if (changes.newEnrolments.has(enrolment.id)) changes.firstSteps.delete(enrolment.id)
  else changes.endedEnrolments.set(enrolment.id, { businessId, enrolment })
}

export const campaignsOf = (state: State, { businessId }: ContactState): Campaign[] =>
  state.businesses.get(businessId)?.campaigns ?? []

function campaignsById(state: State, contact: ContactState, matches: (campaign: Campaign) => boolean) {
  return new Map(campaignsOf(state, contact).flatMap((one) => (matches(one) ? [[one.id, one] as const] : [])))
}
