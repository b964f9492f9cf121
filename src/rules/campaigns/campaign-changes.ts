/** What a micro-batch changes about enrolments with steps. */
import type { FirstStep } from '../state.ts'

export interface EnrolmentStart {
  step: FirstStep
  /** Epoch ms. */
  beganAt: number
  event: TriggerEvent | null
}

/** The event that starts an enrolment, for its templates. */
export interface TriggerEvent {
  name: string
  /** JSON text, or null. */
  properties: string | null
  /** Sent with a secret key. */
  isKeyed: boolean
}

/** The enrolments that one event begins: by itself, and by the steps of those enrolments, by theirs, and so on. */
export interface Chain {
  /** Its first enrolment. Null: there is none yet. */
  root: string | null
  /** Of a step: campaigns that it did not begin any more. Null: the item is an event. */
  refused: string[] | null
}

/** A step of a campaign that this save applies: its enrolment goes on. */
export interface AppliedStep {
  businessId: string
  contactId: string
  enrolmentId: string
  stepId: string
  /** Epoch ms. */
  at: number
  /** Campaigns that the contact did not enter: their chain was too long. */
  refused: string[]
}

/** `times`: of the event, as far as this save records it, in epoch ms; of many at once, those of the first and of the last. */
export interface AwaitedEvent {
  businessId: string
  contactId: string
  event: string
  times: number[]
}
