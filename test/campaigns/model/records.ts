/** The reference model's records of people, campaigns and enrolments. Instants are epoch ms. */
import type { Plan, PlanStep, Zone } from './plan.ts'

export interface Person {
  /** Number in the order in which contacts are made. 0: not made yet. */
  no: number
  /** Null: unknown. */
  hasOptIn: boolean | null
  /** Numbers of the people whose addresses the contact has. The first one that is not suppressed counts. */
  emails: number[]
  isVip: boolean
  /** Null: the zone of the business, which is UTC. */
  zone: Zone | null
  events: { event: string; at: number }[]
}

export interface Version extends Pick<Plan, 'quiet' | 'caps' | 'holdOut'> {
  steps: PlanStep[]
}

/** Random decisions that never change: 0 to 9,999. The contract does not define how they are made. */
export interface Chance {
  ofSplit(person: Person, stepId: string): number
  ofHoldOut(person: Person, campaign: number): number
}

export interface ModelCampaign {
  plan: Plan
  status: 'published' | 'paused' | 'archived'
  versions: Version[]
}

export interface Message {
  step: string
  channel: string
  state: string
  reason: string | null
  claimedAt: number
}

/** Where an enrolment is. */
export interface Row {
  /** The steps that are still to be done, from the one that has begun. */
  rest: PlanStep[]
  since: number
  /** True when no wait and no send has been passed. */
  isFirst: boolean
  nextAt: number
  /** True when a pause of its campaign holds it. */
  isHeld: boolean
  /** True when the pause of mail holds it. */
  isOnPause: boolean
  /** True when the work of the step is done. */
  isSettled: boolean
  /** The message that is being sent or is to be tried again. */
  message: Message | null
  claim: Hand | null
  attempts: number
}

export interface ModelEnrolment {
  /** The contact. */
  person: Person
  campaign: number
  version: number
  state: 'active' | 'finished' | 'converted' | 'stopped' | 'merged'
  enrolledAt: number
  receivedAt: number
  row: Row | null
  messages: Message[]
}

/** A message that a worker has in flight. */
export interface Hand {
  enrolment: ModelEnrolment
  row: Row
  message: Message
  /** Where it goes. Null: the channel has no addresses. */
  to: number | null
  /** Includes this one. */
  attempts: number
}

/** An update that a worker is to submit. */
export interface Updating {
  enrolment: ModelEnrolment
  row: Row
  step: PlanStep & { type: 'update' }
  attempts: number
}

export type Outcome =
  | { kind: 'accepted' | 'refused' | 'bounced' | 'unknown' }
  /** `at` is the instant of the next attempt as the product has chosen it; null when it has given up. */
  | { kind: 'temporary'; at: number | null }

/** @param who first person whose address the contact has; null for a contact with a phone */
export const newPerson = (who: number | null): Person => ({
  no: 0,
  hasOptIn: null,
  emails: who === null ? [] : [who],
  isVip: false,
  zone: null,
  events: [],
})

/** Gives the survivor of a merge what the other contact has. */
export function absorb(survivor: Person, loser: Person): void {
  survivor.events.push(...loser.events)
  survivor.emails.push(...loser.emails)
  survivor.isVip ||= loser.isVip
  const consents = [survivor.hasOptIn, loser.hasOptIn].filter((one) => one !== null)
  survivor.hasOptIn = consents.length === 0 ? null : consents.every(Boolean)
}

export const NEW_ROW = {
  isFirst: true,
  isHeld: false,
  isOnPause: false,
  isSettled: false,
  message: null,
  claim: null,
  attempts: 0,
}

/** Returns the message's state after this outcome. */
export function recorded(outcome: Outcome): Pick<Message, 'state' | 'reason'> {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'sent', reason: null }
    case 'refused':
      return { state: 'failed', reason: 'provider_refused' }
    case 'bounced':
      return { state: 'bounced', reason: 'provider_refused' }
    case 'unknown':
      return { state: 'unknown', reason: null }
    case 'temporary':
      return outcome.at === null ? { state: 'failed', reason: 'gave_up' } : { state: 'claimed', reason: null }
  }
}
