/** What a micro-batch records of segments. */
import type { Cause } from './cause.ts'

/** A contact entered or left a segment. */
export interface MembershipChange {
  businessId: string
  contactId: string
  /** Of the rule. */
  no: number
  entered: boolean
  /** Epoch ms. */
  at: number
  cause: Exclude<Cause, 'erasure'>
  /** Time alone made it, whether it is silent or not. */
  isByTime?: boolean
}

/** A count or sum of the timeline has another value, or changes at another instant. */
export interface WindowChange {
  businessId: string
  contactId: string
  key: string
  /** Null when it is undefined. */
  value: string | null
  /** When time alone changes the value (epoch ms); null: never. */
  nextAt: number | null
  /** Another value than before: decisions from the former one do not hold. */
  isOther: boolean
}
