/** Parts of a contact. */
import type { IdentityKind } from './events/facts.ts'

export interface ContactIdentity {
  kind: IdentityKind
  value: string
  /** A call with a secret key has sent it. */
  proven: boolean
}

/** An opt-in (true) or opt-out (false), and when it was received: epoch milliseconds. */
export interface StoredConsent {
  subscribed: boolean
  at: number
}

/** Of the events of one name: times in epoch ms. */
export interface Statistic {
  firstAt: number
  lastAt: number
  count: number
}
