/** What starts and ends a campaign for a contact (decisions, "Campaigns"). */
import { type Changes, deltaOf } from './changes.ts'
import type { EventItem } from './item.ts'
import type { Campaign, ContactState, EnrolmentEnd, EnrolmentState, State } from './state.ts'

/** A recorded event ends the enrolments whose goal it is, then starts the campaigns that it triggers. */
export function applyToCampaigns(
  state: State,
  changes: Changes,
  contact: ContactState,
  item: EventItem,
  newId: () => string,
): void {
  const campaigns = state.businesses.get(item.businessId)?.campaigns ?? []
  const { event, occurredAt } = item.fact
  const isGoal = campaigns.some((campaign) => campaign.goalEvent === event)
  if (isGoal) reachGoal(changes, contact, campaigns, item)
  // Only deliberate live events enrol: never a batch, whatever its name.
  if (item.source === 'batch') return
  for (const campaign of campaigns) {
    if (campaign.triggerEvent !== event || !mayEnter(campaign, contact)) continue
    const enrolment: EnrolmentState = {
      id: newId(),
      contactId: contact.id,
      campaignId: campaign.id,
      state: 'active',
      enrolledAt: occurredAt,
      receivedAt: item.receivedAt,
      endedAt: null,
    }
    if (goalLiesAtOrAfter(campaign, contact, occurredAt)) {
      enrolment.state = 'converted'
      enrolment.endedAt = item.receivedAt
    }
    contact.enrolments.push(enrolment)
    changes.newEnrolments.push({ businessId: item.businessId, enrolment })
    deltaOf(changes, contact.id).raisesVersion = true
  }
}

/** Ended as `converted` when the goal's last time is at or after the enrolment; a goal dated before it ends it as `stopped`. */
function reachGoal(changes: Changes, contact: ContactState, campaigns: Campaign[], item: EventItem): void {
  const { event, occurredAt } = item.fact
  contact.goalLastAt.set(event, Math.max(occurredAt, contact.goalLastAt.get(event) ?? -Infinity))
  deltaOf(changes, contact.id).raisesVersion = true
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.find((known) => known.id === enrolment.campaignId)
    if (enrolment.state !== 'active' || campaign?.goalEvent !== event) continue
    const end = goalLiesAtOrAfter(campaign, contact, enrolment.enrolledAt) ? 'converted' : 'stopped'
    endEnrolment(changes, item.businessId, enrolment, end, item.receivedAt)
  }
}

/** After a merge the goal condition is checked once on the united statistics. */
export function settleGoals(state: State, changes: Changes, contact: ContactState, at: number): void {
  const campaigns = state.businesses.get(contact.businessId)?.campaigns ?? []
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
