/** Changes of a micro-batch to enrolments with steps. */
import type { FirstStep } from '../business-state.ts'

export interface EnrolmentStart {
  step: FirstStep
  /** Epoch milliseconds. */
  beganAt: number
  event: TriggerEvent | null
  /** The `occurredAt` of the event that triggered. Null: no event triggers the campaign. */
  eventAt: number | null
}

/** A trigger event of an active enrolment in Postgres that templates read from now on, unless it is older than theirs. */
export interface FollowedTrigger {
  businessId: string
  contactId: string
  enrolmentId: string
  event: TriggerEvent
  /** Epoch milliseconds. */
  occurredAt: number
  receivedAt: number
  /** Where the enrolment begins again, if it has claimed no message. Null: it stays where it is. */
  restart: FirstStep | null
}

/** The last time of a goal whose events meet conditions. */
export interface GoalTime {
  businessId: string
  contactId: string
  campaignId: string
  /** `ANY_KEY`: the key does not matter. */
  key: string
  /** Epoch milliseconds. */
  lastAt: number
}

/** The event that starts an enrolment, for its templates. */
export interface TriggerEvent {
  name: string
  /** JSON text, or null. */
  properties: string | null
  /** True when it was sent with a secret key. */
  isKeyed: boolean
}

/** The enrolments that one event begins: directly, by the steps of those enrolments, by their steps, and so on. */
export interface Chain {
  /** The first enrolment of the chain. Null: there is none yet. */
  root: string | null
  /** For an item of a step: the number of enrolments that the chain may still begin. Null: the item is an event. */
  refused: string[] | null
}

/** A step of a campaign that this save applies, so that its enrolment continues. */
export interface AppliedStep {
  businessId: string
  contactId: string
  enrolmentId: string
  stepId: string
  /** Epoch milliseconds. */
  at: number
  /** Campaigns that the contact did not enter because their chain was too long. */
  refused: string[]
}

/**
 * `times`: instants of the event that this save records, in epoch milliseconds. When there are many, those of the first
 * and the last.
 */
export interface AwaitedEvent {
  businessId: string
  contactId: string
  event: string
  times: number[]
}
