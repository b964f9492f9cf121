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

/** The first and the last time of an event (epoch ms) that this save records. */
export interface HeardEvent {
  businessId: string
  contactId: string
  event: string
  firstAt: number
  lastAt: number
}
