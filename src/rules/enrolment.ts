/** What starts and ends a campaign for a contact (decisions, "Campaigns"). */
import { type Changes, type Deciding, deltaOf } from './changes.ts'
import type { EventFact } from './facts.ts'
import type { Campaign, ContactState, EnrolmentEnd, EnrolmentState, State } from './state.ts'

/** Enrols the contact in the campaigns that a live event triggers. Its being a goal comes first: see `reachGoal`. */
export function startCampaigns(
  { state, changes, newId }: Deciding,
  contact: ContactState,
  { event, occurredAt, receivedAt }: Pick<EventFact, 'event' | 'occurredAt'> & { receivedAt: number },
): void {
  const campaigns = campaignsOf(state, contact)
  for (const campaign of campaigns) {
    if (campaign.triggerEvent !== event || !mayEnter(campaign, contact)) continue
    const enrolment: EnrolmentState = {
      id: newId(),
      contactId: contact.id,
      campaignId: campaign.id,
      state: 'active',
      enrolledAt: occurredAt,
      receivedAt,
      endedAt: null,
    }
    if (goalLiesAtOrAfter(campaign, contact, occurredAt)) {
      enrolment.state = 'converted'
      enrolment.endedAt = receivedAt
    }
    contact.enrolments.push(enrolment)
    changes.newEnrolments.push({ businessId: contact.businessId, enrolment })
    deltaOf(changes, contact.id).raisesVersion = true
  }
}

/**
 * Ends the enrolments whose goal an event is (or several of one name, of which the last was at `lastAt`): as `converted` when
 * the goal's last time is at or after the enrolment; a goal dated before it ends it as `stopped`.
 */
export function reachGoal(
  { state, changes }: Deciding,
  contact: ContactState,
  { event, lastAt, at }: { event: string; lastAt: number; at: number },
): void {
  const campaigns = campaignsOf(state, contact)
  if (!campaigns.some((campaign) => campaign.goalEvent === event)) return
  contact.goalLastAt.set(event, Math.max(lastAt, contact.goalLastAt.get(event) ?? -Infinity))
  deltaOf(changes, contact.id).raisesVersion = true
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.find((known) => known.id === enrolment.campaignId)
    if (enrolment.state !== 'active' || campaign?.goalEvent !== event) continue
    const end = goalLiesAtOrAfter(campaign, contact, enrolment.enrolledAt) ? 'converted' : 'stopped'
    endEnrolment(changes, contact.businessId, enrolment, end, at)
  }
}

/** After a merge the goal condition is checked once on the united statistics. */
export function settleGoals(state: State, changes: Changes, contact: ContactState, at: number): void {
  const campaigns = campaignsOf(state, contact)
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.find((known) => known.id === enrolment.campaignId)
    if (enrolment.state === 'active' && campaign && goalLiesAtOrAfter(campaign, contact, enrolment.enrolledAt))
      endEnrolment(changes, contact.businessId, enrolment, 'converted', at)
  }
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
  const isNew = changes.newEnrolments.some((made) => made.enrolment === enrolment)
  if (!isNew) changes.endedEnrolments.set(enrolment.id, { businessId, enrolment })
}

const campaignsOf = (state: State, { businessId }: ContactState): Campaign[] =>
  state.businesses.get(businessId)?.campaigns ?? []

function mayEnter(campaign: Campaign, contact: ContactState): boolean {
  const entered = contact.enrolments.filter((enrolment) => enrolment.campaignId === campaign.id)
  if (!campaign.canEnterAgain) return entered.length === 0
  return !entered.some((enrolment) => enrolment.state === 'active')
}

function goalLiesAtOrAfter(campaign: Campaign, contact: ContactState, instant: number): boolean {
  if (campaign.goalEvent === null) return false
  const lastAt = contact.goalLastAt.get(campaign.goalEvent)
  return lastAt !== undefined && lastAt >= instant
}
