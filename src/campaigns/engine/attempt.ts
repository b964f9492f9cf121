/** A rendered message, and the outcome of an attempt to send it. */
import type { SendOutcome } from '../../messages/channels/provider.ts'
import type { linksOf } from '../../messages/public-links.ts'
import type { RenderedMessage } from '../../messages/templates/template.ts'
import type { MessageValues } from '../../messages/templates/values.ts'

/** Outcome of an attempt. */
export interface Attempt {
  outcome: SendOutcome | { kind: 'template_failed'; reason: string }
  provider: string | null
  /** The template version and values of the message; null when it was not rendered. */
  rendered: { version: number; values: MessageValues } | null
}

export interface MadeMessage {
  message: RenderedMessage
  version: number
  values: MessageValues
  links: ReturnType<typeof linksOf>
  /** Links to these may be tracked. */
  hosts: ReadonlySet<string>
}

export type Rendered = MadeMessage | Attempt['outcome']
