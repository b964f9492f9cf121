/** What starts a campaign for a contact (decisions, "Campaigns"). */
import { type DecisionContext, deltaOf } from '../changes.ts'
import type { RecordedEvent } from '../events/recorded-event.ts'
import {
  MAX_ACTIVE_IN_CAMPAIGN,
  MAX_ACTIVE_WITH_KEYS,
  MAX_CHAIN,
  MAX_ENROLMENTS,
  MAX_ENROLMENTS_OF_AN_EVENT,
  countEnrolments,
  countOf,
  showCount,
} from '../limits.ts'
import type { Campaign, FirstStep } from '../business-state.ts'
import { type ContactState, type EnrolmentState, type State, pastKey } from '../state.ts'
import type { Chain } from './campaign-changes.ts'
import { type Entry, stepFor } from './entry.ts'
import { fitOf } from './event-condition.ts'
import { type TriggeringEvent, triggeringEvent } from './event-trigger.ts'
import { followTriggers } from './follow-triggers.ts'
import { campaignsOf, isGoalReached } from './goals.ts'
import { pastOf } from './past-of-key.ts'
import { isHarmless } from './trigger-event.ts'
import type { FiredTrigger } from './web-trigger-fact.ts'

const withoutKey = (campaign: Campaign): Entry => ({ campaign, key: null })

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
  const entries = campaigns.flatMap((campaign) => {
    const { triggerEvent, triggerTest } = campaign
    return triggerEvent === event && (triggerTest?.(seen) ?? true) ? entryOf(campaign, seen) : []
  })
  followTriggers(context, contact, entries, { occurredAt, receivedAt })
  // The caller's clock may be ahead: an enrolment never starts after the event was received.
  const instants = { enrolledAt: Math.min(occurredAt, receivedAt), receivedAt }
  return enrol(context, contact, entries, { ...instants, eventAt: occurredAt })
}

/** None for an event without a key, and for one that is the goal itself. */
function entryOf(campaign: Campaign, seen: TriggeringEvent): Entry[] {
  const { keyed, goalEvent, triggerEvent } = campaign
  if (!keyed) return [{ campaign, key: null }]
  if (keyed.goal && goalEvent === triggerEvent && fitOf(keyed.goal, seen) !== null) return []
  if (keyed.readKey === null) return [{ campaign, key: null }]
  const key = keyed.readKey(seen.properties())
  return key === null ? [] : [{ campaign, key }]
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
  return enrol(context, contact, triggered.map(withoutKey), { enrolledAt: at, receivedAt: at })
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
  return enrol(context, contact, triggered.map(withoutKey), {
    enrolledAt: Math.min(occurredAt, receivedAt),
    receivedAt,
  })
}

function enrol(
  context: DecisionContext,
  contact: ContactState,
  triggered: Entry[],
  {
    enrolledAt,
    receivedAt,
    eventAt = null,
  }: Pick<EnrolmentState, 'enrolledAt' | 'receivedAt'> & { eventAt?: number | null },
): string[] {
  if (triggered.length === 0) return []
  const { state, changes, newId, event, chain } = context
  const { free, crowded } = freeOf(enterable(state, triggered, contact), contact)
  const entered = withinChain(free, contact, chain)
  const allowed = entered.slice(0, MAX_ENROLMENTS_OF_AN_EVENT)
  const room = Math.max(0, MAX_ENROLMENTS - countEnrolments(contact))
  for (const { campaign, key } of allowed.slice(0, room)) {
    const id = newId()
    const { enrolment, firstStep } = newEnrolment(campaign, {
      id,
      contactId: contact.id,
      key,
      isReached: isGoalReached(state, campaign, contact, { key, enrolledAt }),
      enrolledAt,
      receivedAt,
      chain: chain?.root ?? null,
    })
    if (key !== null && event?.isKeyed === false && !isHarmless(key)) enrolment.isKeyHidden = true
    if (chain) chain.root ??= id
    contact.enrolments.push(enrolment)
    changes.newEnrolments.set(enrolment.id, { businessId: contact.businessId, enrolment })
    if (firstStep !== null)
      changes.firstSteps.set(enrolment.id, { step: firstStep, beganAt: receivedAt, event: event ?? null, eventAt })
    changes.effects?.push({
      kind: 'enrolled',
      contactId: contact.id,
      campaignId: campaign.id,
      key,
      state: enrolment.state,
    })
    deltaOf(changes, contact.id).raisesVersion = true
  }
  return [
    ...notEntered(crowded, TOO_MANY_ACTIVE),
    ...notEntered(entered.length - allowed.length, `an event enrols in at most ${MAX_ENROLMENTS_OF_AN_EVENT}`),
    ...notEntered(allowed.length - room, `a contact has at most ${showCount(MAX_ENROLMENTS)} enrolments`),
  ]
}

const TOO_MANY_ACTIVE = `a contact has at most ${MAX_ACTIVE_IN_CAMPAIGN} active enrolments with keys in a campaign, and ${MAX_ACTIVE_WITH_KEYS} in all`

/** Returns the entries for which the contact has room, and the number of the others. */
function freeOf(entries: Entry[], { enrolments }: ContactState): { free: Entry[]; crowded: number } {
  if (entries.every(({ key }) => key === null)) return { free: entries, crowded: 0 }
  const active = enrolments.filter(({ key, state }) => key !== null && state === 'active')
  let all = active.length
  const free = entries.filter(({ campaign, key }) => {
    if (key === null) return true
    const many = active.filter(({ campaignId }) => campaignId === campaign.id).length
    if (many >= MAX_ACTIVE_IN_CAMPAIGN || all >= MAX_ACTIVE_WITH_KEYS) return false
    all += 1
    return true
  })
  return { free, crowded: entries.length - free.length }
}

/** Returns all of the entries or, when a step would begin them, as many as its chain may still have. */
function withinChain(entries: Entry[], { enrolments }: ContactState, chain: Chain | undefined): Entry[] {
  if (!chain?.refused) return entries
  const many = enrolments.filter((one) => one.id === chain.root || one.chain === chain.root).length
  const room = Math.max(0, MAX_CHAIN - many)
  chain.refused.push(...entries.slice(room).map(({ campaign }) => campaign.id))
  return entries.slice(0, room)
}

/**
 * Composes an enrolment. It is converted at once when the goal was reached since its instant (`isReached`).
 * @param now instant of the creation (epoch milliseconds); default: its receipt
 * @returns `firstStep`: where it begins; null when it has no steps
 */
export function newEnrolment(
  campaign: Pick<Campaign, 'id' | 'version' | 'firstStep' | 'keyed'>,
  {
    isReached,
    now,
    key = null,
    chain = null,
    ...made
  }: Pick<EnrolmentState, 'id' | 'contactId' | 'enrolledAt' | 'receivedAt'> & {
    isReached: boolean
    now?: number
    key?: string | null
    chain?: string | null
  },
): { enrolment: EnrolmentState; firstStep: FirstStep | null } {
  const enrolment: EnrolmentState = {
    ...made,
    campaignId: campaign.id,
    version: campaign.firstStep === null ? null : campaign.version,
    state: isReached ? 'converted' : 'active',
    endedAt: isReached ? (now ?? made.receivedAt) : null,
    chain,
    key,
  }
  const { firstStep } = campaign
  return { enrolment, firstStep: isReached || firstStep === null ? null : stepFor(firstStep, campaign, key) }
}

const notEntered = (many: number, reason: string): string[] =>
  many > 0 ? [`${countOf(many, 'campaign')} not entered: ${reason}`] : []

const enteringOf = (state: State, contact: ContactState): Campaign[] =>
  campaignsOf(state, contact).filter(({ isPaused }) => !isPaused)

/**
 * Campaigns that the contact may enter: it was never in them, or it has left them and they allow another entry. With
 * keys, each key is entered by itself.
 */
function enterable(state: State, entries: Entry[], contact: ContactState): Entry[] {
  const { enrolments } = contact
  const nameOf = (campaignId: string, key: string | null) => (key === null ? campaignId : pastKey(campaignId, key))
  const entered = new Set(enrolments.map(({ campaignId, key }) => nameOf(campaignId, key)))
  const active = new Set(enrolments.flatMap((one) => (one.state === 'active' ? [nameOf(one.campaignId, one.key)] : [])))
  return entries.filter(({ campaign: { id, canEnterAgain }, key }) => {
    if ((canEnterAgain ? active : entered).has(nameOf(id, key))) return false
    return canEnterAgain || key === null || !pastOf(state, contact, id, key).wasEntered
  })
}
