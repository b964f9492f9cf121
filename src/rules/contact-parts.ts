/** Parts of a contact. */
import type { IdentityKind } from './events/facts.ts'

export interface ContactIdentity {
  kind: IdentityKind
  value: string
  /** True when a call with a secret key has sent it. */
  proven: boolean
  /** True for the email, and for the phone, that a call has made primary. */
  isPrimary?: boolean
}

/** An opt-in (true) or opt-out (false), with the time of receipt in epoch ms. */
export interface StoredConsent {
  subscribed: boolean
  at: number
}

/** Statistics of the events with one name. Times are in epoch ms. */
export interface Statistic {
  firstAt: number
  lastAt: number
  count: number
}
