/** A call of POST /api/messages: one transactional message. */
import type { Tracking } from '../campaigns/definition.ts'

export const CALL_CHANNELS = ['email', 'sms', 'whatsapp', 'push'] as const
export type CallChannel = (typeof CALL_CHANNELS)[number]

/** Whom the message goes to: an id of a contact, or an address. */
export type CallTo =
  | { kind: 'contactId'; value: string }
  | { kind: 'platformCustomerId'; value: string }
  /** In lower case. */
  | { kind: 'email'; value: string }
  /** E.164 digits. */
  | { kind: 'phone'; value: string }

export interface Attachment {
  filename: string
  contentType: string
  content: Uint8Array
  /** Of an image that the HTML shows by `cid:`. */
  contentId: string | null
}

export interface SendCall {
  to: CallTo
  templateId: string
  data: Record<string, unknown>
  /** The key of a sender. Null: the template's, or the default one of the channel. */
  sender: string | null
  /** As a language tag. Null: that of the contact, or the default one. */
  language: string | null
  /** A mailbox. */
  replyTo: string | null
  idempotencyKey: string | null
  attachments: Attachment[]
  /** Milliseconds. */
  validForMs: number
  /** Data and rendering are deleted once the message is settled. */
  sensitive: boolean
  tracking: Tracking
}

export const MAX_ATTACHMENTS = 10
/** Of all together. */
export const MAX_ATTACHMENT_BYTES = 5 * 1024 * 1024
export const MAX_DATA_BYTES = 1024 * 1024

/** Why the channel of the template does not fit; null when it does. */
export function channelFault(to: CallTo, channel: string): 'not_by_webhook' | 'not_to_email' | 'not_to_phone' | null {
  if (channel === 'webhook') return 'not_by_webhook'
  if (to.kind === 'email') return channel === 'email' ? null : 'not_to_email'
  if (to.kind === 'phone') return channel === 'sms' || channel === 'whatsapp' ? null : 'not_to_phone'
  return null
}
