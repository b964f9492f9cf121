/** What starts and ends a campaign for a contact (decisions, "Campaigns"). */
import { type Changes, type Deciding, deltaOf } from '../changes.ts'
import type { EventFact } from '../events/facts.ts'
import { MAX_ENROLMENTS, MAX_ENROLMENTS_OF_AN_EVENT, countOf, showCount } from '../limits.ts'
import type { Campaign, ContactState, EnrolmentEnd, EnrolmentState, State } from '../state.ts'

/**
 * Enrols the contact in the campaigns that a live event triggers. Its being a goal comes first: see `reachGoal`.
 * @returns a warning for each limit that kept it out of some
 */
export function startCampaigns(
  { state, changes, newId }: Deciding,
  contact: ContactState,
  { event, occurredAt, receivedAt }: Pick<EventFact, 'event' | 'occurredAt'> & { receivedAt: number },
): string[] {
  const triggered = campaignsOf(state, contact).filter((campaign) => campaign.triggerEvent === event)
  if (triggered.length === 0) return []
  const entered = enterable(triggered, contact)
  const begun = entered.slice(0, MAX_ENROLMENTS_OF_AN_EVENT)
  const room = Math.max(0, MAX_ENROLMENTS - contact.enrolments.length)
  // A clock that is ahead dates nothing after its receipt.
  const enrolledAt = Math.min(occurredAt, receivedAt)
  for (const campaign of begun.slice(0, room)) {
    const isReached = goalLiesAtOrAfter(campaign, contact, enrolledAt)
    const enrolment: EnrolmentState = {
      id: newId(),
      contactId: contact.id,
      campaignId: campaign.id,
      state: isReached ? 'converted' : 'active',
      enrolledAt,
      receivedAt,
      endedAt: isReached ? receivedAt : null,
    }
    contact.enrolments.push(enrolment)
    changes.newEnrolments.set(enrolment.id, { businessId: contact.businessId, enrolment })
    deltaOf(changes, contact.id).raisesVersion = true
  }
  return [
    ...notEntered(entered.length - begun.length, `an event enrols in at most ${MAX_ENROLMENTS_OF_AN_EVENT}`),
    ...notEntered(begun.length - room, `a contact has at most ${showCount(MAX_ENROLMENTS)} enrolments`),
  ]
}

const notEntered = (many: number, reason: string): string[] =>
  many > 0 ? [`${countOf(many, 'campaign')} not entered: ${reason}`] : []

/**
 * Ends the enrolments whose goal an event is (or several of one name, of which the last was at `lastAt`): as `converted` when
 * the goal's last time is at or after the enrolment. A goal dated before it ends it as `stopped`, if it was recorded after it:
 * a browser's history was recorded when it was received.
 */
export function reachGoal(
  { state, changes }: Deciding,
  contact: ContactState,
  { event, lastAt, at, recordedAt = Infinity }: { event: string; lastAt: number; at: number; recordedAt?: number },
): void {
  const campaigns = campaignsById(state, contact, (campaign) => campaign.goalEvent === event)
  if (campaigns.size === 0) return
  contact.goalLastAt.set(event, Math.max(lastAt, contact.goalLastAt.get(event) ?? -Infinity))
  deltaOf(changes, contact.id).raisesVersion = true
  for (const enrolment of contact.enrolments) {
    if (enrolment.state !== 'active') continue
    const campaign = campaigns.get(enrolment.campaignId)
    if (!campaign) continue
    if (goalLiesAtOrAfter(campaign, contact, enrolment.enrolledAt))
      endEnrolment(changes, contact.businessId, enrolment, 'converted', at)
    else if (recordedAt >= enrolment.receivedAt) endEnrolment(changes, contact.businessId, enrolment, 'stopped', at)
  }
}

/** After a merge the goal condition is checked once on the united statistics. */
export function settleGoals(state: State, changes: Changes, contact: ContactState, at: number): void {
  if (contact.enrolments.length === 0) return
  const campaigns = campaignsById(state, contact, (campaign) => campaign.goalEvent !== null)
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.get(enrolment.campaignId)
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
  if (!changes.newEnrolments.has(enrolment.id)) changes.endedEnrolments.set(enrolment.id, { businessId, enrolment })
}

const campaignsOf = (state: State, { businessId }: ContactState): Campaign[] =>
  state.businesses.get(businessId)?.campaigns ?? []

function campaignsById(state: State, contact: ContactState, isMeant: (campaign: Campaign) => boolean) {
  return new Map(campaignsOf(state, contact).flatMap((one) => (isMeant(one) ? [[one.id, one] as const] : [])))
}

/** Those that the contact is not in, and never was, or may enter again. */
function enterable(campaigns: Campaign[], { enrolments }: ContactState): Campaign[] {
  const entered = new Set(enrolments.map(({ campaignId }) => campaignId))
  const active = new Set(enrolments.flatMap((one) => (one.state === 'active' ? [one.campaignId] : [])))
  return campaigns.filter(({ id, canEnterAgain }) => !(canEnterAgain ? active : entered).has(id))
}

function goalLiesAtOrAfter(campaign: Campaign, contact: ContactState, instant: number): boolean {
  if (campaign.goalEvent === null) return false
  const lastAt = contact.goalLastAt.get(campaign.goalEvent)
  return lastAt !== undefined && lastAt >= instant
}
