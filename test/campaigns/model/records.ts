/** What the reference model knows of people, campaigns and enrolments. Instants are epoch ms. */
import type { Plan, PlanStep, Zone } from './plan.ts'

export interface Person {
  /** In the order in which contacts are made. 0: it is not made yet. */
  no: number
  /** Null: nothing is known. */
  hasOptIn: boolean | null
  /** Numbers of the people whose addresses it has: the first one counts. */
  emails: number[]
  isVip: boolean
  /** Null: that of the business, which is UTC. */
  zone: Zone | null
  events: { event: string; at: number }[]
}

export interface Version extends Pick<Plan, 'quiet' | 'caps' | 'holdOut'> {
  steps: PlanStep[]
}

/** What decides by chance, and for good: 0 to 9,999. The contract does not say how. */
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
  /** What is still to be done, from the step that has begun. */
  rest: PlanStep[]
  since: number
  /** Neither a wait nor a send lies behind. */
  isFirst: boolean
  nextAt: number
  /** It is held by a pause of its campaign. */
  isHeld: boolean
  /** It is held by the pause of mail. */
  isOnPause: boolean
  /** What the step was for is done. */
  isSettled: boolean
  /** That is being sent, or to be tried again. */
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

/** A message that a worker has in hand. */
export interface Hand {
  enrolment: ModelEnrolment
  row: Row
  message: Message
  /** With this one. */
  attempts: number
}

/** An update that a worker is to hand over. */
export interface Updating {
  enrolment: ModelEnrolment
  row: Row
  step: PlanStep & { type: 'update' }
  attempts: number
}

export type Outcome =
  | { kind: 'accepted' | 'refused' | 'unknown' }
  /** `at`: of the next attempt, as the product has chosen it; null: it has given up. */
  | { kind: 'temporary'; at: number | null }

/** @param who beginning with this address; null: with a phone */
export const newPerson = (who: number | null): Person => ({
  no: 0,
  hasOptIn: null,
  emails: who === null ? [] : [who],
  isVip: false,
  zone: null,
  events: [],
})

export const NEW_ROW = {
  isFirst: true,
  isHeld: false,
  isOnPause: false,
  isSettled: false,
  message: null,
  claim: null,
  attempts: 0,
}

/** What becomes of the message. */
export function recorded(outcome: Outcome): Pick<Message, 'state' | 'reason'> {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'sent', reason: null }
    case 'refused':
      return { state: 'failed', reason: 'provider_refused' }
    case 'unknown':
      return { state: 'unknown', reason: null }
    case 'temporary':
      return outcome.at === null ? { state: 'failed', reason: 'gave_up' } : { state: 'claimed', reason: null }
  }
}
