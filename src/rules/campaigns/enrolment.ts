/** What starts and ends a campaign for a contact (decisions, "Campaigns"). */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import type { RecordedEvent } from '../events/recorded-event.ts'
import { MAX_CHAIN, MAX_ENROLMENTS, MAX_ENROLMENTS_OF_AN_EVENT, countOf, showCount } from '../limits.ts'
import type { Campaign, ContactState, EnrolmentEnd, EnrolmentState, FirstStep, State } from '../state.ts'
import type { Chain } from './campaign-changes.ts'
import { triggeringEvent } from './event-trigger.ts'
import type { FiredTrigger } from './web-trigger-fact.ts'

/**
 * Enrols the contact in the campaigns that a live event triggers. Call `reachGoal` first: the event may also be a goal.
 * @returns a warning for each limit that prevented an enrolment
 */
export function startCampaigns(
  context: DecisionContext,
  contact: ContactState,
  { fact, source, receivedAt }: Pick<RecordedEvent, 'fact' | 'source' | 'receivedAt'>,
): string[] {
  const { event, occurredAt } = fact
  const campaigns = enteringOf(context.state, contact)
  if (campaigns.length === 0) return []
  const seen = triggeringEvent(fact, source)
  const triggered = campaigns.filter(
    ({ triggerEvent, triggerTest }) => triggerEvent === event && (triggerTest?.(seen) ?? true),
  )
  // The caller's clock may be ahead: an enrolment never starts after the event was received.
  return enrol(context, contact, triggered, { enrolledAt: Math.min(occurredAt, receivedAt), receivedAt })
}

/**
 * Enrols the contact in the campaigns that its entry into a segment, or its exit, triggers. `at`: instant of the
 * change, in epoch milliseconds.
 */
export function startBySegment(
  context: DecisionContext,
  contact: ContactState,
  { segmentId, entered, at }: { segmentId: string; entered: boolean; at: number },
): string[] {
  const on = entered ? 'enter' : 'leave'
  const triggered = enteringOf(context.state, contact).filter(
    ({ triggerSegment }) => triggerSegment?.segmentId === segmentId && triggerSegment.on === on,
  )
  return enrol(context, contact, triggered, { enrolledAt: at, receivedAt: at })
}

/**
 * Enrols the contact in the campaign, if the capture of its browser still triggers it. `occurredAt`: epoch
 * milliseconds.
 */
export function startByWeb(
  context: DecisionContext,
  contact: ContactState,
  { campaignId, name, page, occurredAt, receivedAt }: Omit<FiredTrigger, 'pageId'> & { receivedAt: number },
): string[] {
  const triggered = enteringOf(context.state, contact).filter(
    ({ id, triggerWeb }) => id === campaignId && triggerWeb?.name === name && triggerWeb.test(page),
  )
  return enrol(context, contact, triggered, { enrolledAt: Math.min(occurredAt, receivedAt), receivedAt })
}

function enrol(
  { changes, newId, event, chain }: DecisionContext,
  contact: ContactState,
  triggered: Campaign[],
  { enrolledAt, receivedAt }: Pick<EnrolmentState, 'enrolledAt' | 'receivedAt'>,
): string[] {
  if (triggered.length === 0) return []
  const entered = withinChain(enterable(triggered, contact), contact, chain)
  const allowed = entered.slice(0, MAX_ENROLMENTS_OF_AN_EVENT)
  const room = Math.max(0, MAX_ENROLMENTS - contact.enrolments.length)
  for (const campaign of allowed.slice(0, room)) {
    const id = newId()
    const { enrolment, firstStep } = newEnrolment(campaign, contact, {
      id,
      enrolledAt,
      receivedAt,
      chain: chain?.root ?? null,
    })
    if (chain) chain.root ??= id
    contact.enrolments.push(enrolment)
    changes.newEnrolments.set(enrolment.id, { businessId: contact.businessId, enrolment })
    if (firstStep !== null)
      changes.firstSteps.set(enrolment.id, { step: firstStep, beganAt: receivedAt, event: event ?? null })
    changes.effects?.push({ kind: 'enrolled', contactId: contact.id, campaignId: campaign.id, state: enrolment.state })
    deltaOf(changes, contact.id).raisesVersion = true
  }
  return [
    ...notEntered(entered.length - allowed.length, `an event enrols in at most ${MAX_ENROLMENTS_OF_AN_EVENT}`),
    ...notEntered(allowed.length - room, `a contact has at most ${showCount(MAX_ENROLMENTS)} enrolments`),
  ]
}

/** Returns all of the campaigns or, when a step would begin them, as many as its chain may still have. */
function withinChain(campaigns: Campaign[], { enrolments }: ContactState, chain: Chain | undefined): Campaign[] {
  if (!chain?.refused) return campaigns
  const many = enrolments.filter((one) => one.id === chain.root || one.chain === chain.root).length
  const room = Math.max(0, MAX_CHAIN - many)
  chain.refused.push(...campaigns.slice(room).map(({ id }) => id))
  return campaigns.slice(0, room)
}

/**
 * Enrols the contact. The enrolment is converted at once when the goal was reached since its instant.
 * @param now instant of the creation (epoch milliseconds); default: its receipt
 * @returns `firstStep`: where it begins; null when it has no steps
 */
export function newEnrolment(
  campaign: Pick<Campaign, 'id' | 'version' | 'firstStep' | 'goalEvent'>,
  contact: Pick<ContactState, 'id' | 'goalLastAt'>,
  {
    id,
    enrolledAt,
    receivedAt,
    now = receivedAt,
    chain = null,
  }: Pick<EnrolmentState, 'id' | 'enrolledAt' | 'receivedAt'> & {
    now?: number
    chain?: string | null
  },
): { enrolment: EnrolmentState; firstStep: FirstStep | null } {
  const isReached = isGoalReachedSince(campaign, contact, enrolledAt)
  const enrolment: EnrolmentState = {
    id,
    contactId: contact.id,
    campaignId: campaign.id,
    version: campaign.firstStep === null ? null : campaign.version,
    state: isReached ? 'converted' : 'active',
    enrolledAt,
    receivedAt,
    endedAt: isReached ? now : null,
    chain,
  }
  return { enrolment, firstStep: isReached ? null : campaign.firstStep }
}

const notEntered = (many: number, reason: string): string[] =>
  many > 0 ? [`${countOf(many, 'campaign')} not entered: ${reason}`] : []

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
  const campaigns = campaignsById(state, contact, (campaign) => campaign.goalEvent === event)
  if (campaigns.size === 0) return
  contact.goalLastAt.set(event, Math.max(lastAt, contact.goalLastAt.get(event) ?? -Infinity))
  deltaOf(changes, contact.id).raisesVersion = true
  for (const enrolment of contact.enrolments) {
    if (enrolment.state !== 'active') continue
    const campaign = campaigns.get(enrolment.campaignId)
    if (!campaign) continue
    if (isGoalReachedSince(campaign, contact, enrolment.enrolledAt))
      endEnrolment(changes, contact.businessId, enrolment, 'converted', at)
    else if (recordedAt >= enrolment.receivedAt) endEnrolment(changes, contact.businessId, enrolment, 'stopped', at)
  }
}

/** Notes an event that a step of an enrolment may wait for. The save finds out which step does. */
export function recordAwaitedEvent(
  { state, changes }: DecisionContext,
  contact: ContactState,
  event: string,
  { firstAt, lastAt }: { firstAt: number; lastAt: number },
): void {
  if (!state.businesses.get(contact.businessId)?.awaited.has(event)) return
  if (!contact.enrolments.some((one) => one.state === 'active' && one.version !== null)) return
  const key = `${contact.id} ${event}`
  const known = changes.awaitedEvents.get(key)
  const times = firstAt === lastAt ? [firstAt] : [firstAt, lastAt]
  if (known) known.times.push(...times)
  else changes.awaitedEvents.set(key, { businessId: contact.businessId, contactId: contact.id, event, times })
}

/** Checks the goals of all active enrolments once, after a merge has combined the statistics. */
export function checkGoals(state: State, changes: Changes, contact: ContactState, at: number): void {
  if (contact.enrolments.length === 0) return
  const campaigns = campaignsById(state, contact, (campaign) => campaign.goalEvent !== null)
  for (const enrolment of contact.enrolments) {
    const campaign = campaigns.get(enrolment.campaignId)
    if (enrolment.state === 'active' && campaign && isGoalReachedSince(campaign, contact, enrolment.enrolledAt))
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
  changes.effects?.push({ kind: 'ended', contactId: enrolment.contactId, campaignId: enrolment.campaignId, state: end })
  if (changes.newEnrolments.has(enrolment.id)) changes.firstSteps.delete(enrolment.id)
  else changes.endedEnrolments.set(enrolment.id, { businessId, enrolment })
}

const enteringOf = (state: State, contact: ContactState): Campaign[] =>
  campaignsOf(state, contact).filter(({ isPaused }) => !isPaused)

const campaignsOf = (state: State, { businessId }: ContactState): Campaign[] =>
  state.businesses.get(businessId)?.campaigns ?? []

function campaignsById(state: State, contact: ContactState, matches: (campaign: Campaign) => boolean) {
  return new Map(campaignsOf(state, contact).flatMap((one) => (matches(one) ? [[one.id, one] as const] : [])))
}

/** Campaigns that the contact may enter: it was never in them, or it has left them and they allow another entry. */
function enterable(campaigns: Campaign[], { enrolments }: ContactState): Campaign[] {
  const entered = new Set(enrolments.map(({ campaignId }) => campaignId))
  const active = new Set(enrolments.flatMap((one) => (one.state === 'active' ? [one.campaignId] : [])))
  return campaigns.filter(({ id, canEnterAgain }) => !(canEnterAgain ? active : entered).has(id))
}

function isGoalReachedSince(
  campaign: Pick<Campaign, 'goalEvent'>,
  contact: Pick<ContactState, 'goalLastAt'>,
  instant: number,
): boolean {
  if (campaign.goalEvent === null) return false
  const lastAt = contact.goalLastAt.get(campaign.goalEvent)
  return lastAt !== undefined && lastAt >= instant
}
