import type { SendOutcome } from '../../../messages/channels/provider.ts'
import type { MessageValues } from '../../../messages/templates/values.ts'

/** Outcome of an attempt to send a message. */
export interface Attempt {
  outcome: SendOutcome | { kind: 'template_failed'; reason: string }
  provider: string | null
  /** The address that it was sent from; null when there is none, or it was not sent. */
  from: string | null
  /** The template version and values of the message; null when it was not rendered. */
  rendered: { version: number; values: MessageValues } | null
}
