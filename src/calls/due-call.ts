import type { Tracking } from '../rules/campaigns/definition.ts'

/** What the engine needs to know of a call, beside the message. Stored as JSON. */
export interface CallOptions {
  /** The language of the variant whose names were checked. */
  language: string
  /** The key of the sender that the call names. */
  sender: string | null
  /** A mailbox. */
  replyTo: string | null
  sensitive: boolean
  tracking: Tracking
  /** It goes to the address that the call has named, whatever the contact has. */
  isToAddress: boolean
}
