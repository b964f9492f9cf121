/** The changes to segments that a micro-batch records. */
import type { Cause } from './cause.ts'

/** A contact entered or left a segment. */
export interface MembershipChange {
  businessId: string
  contactId: string
  /** Number of the rule. */
  no: number
  entered: boolean
  /** Epoch ms. */
  at: number
  cause: Exclude<Cause, 'erasure'>
  /** True when time alone made the change, whether it is silent or not. */
  isByTime?: boolean
}

/** A count or sum of the timeline has a new value, or its next change has a new time. */
export interface WindowChange {
  businessId: string
  contactId: string
  key: string
  /** Null when the value is undefined. */
  value: string | null
  /** Time at which time alone changes the value next, in epoch ms; null: never. */
  nextAt: number | null
  /** True when the value differs from the previous one: decisions that used that one are invalid. */
  isOther: boolean
}
