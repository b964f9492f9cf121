import type { ConversionType } from '../rules/events/facts.ts'

/** The kinds of click id that the browser script stores; `ttclid` and `msclkid` are only for webhooks. */
export type ClickKind = 'gclid' | 'gbraid' | 'wbraid' | 'fbclid' | 'msclkid' | 'ttclid'

/** A conversion, with the current identities of its contact. */
export interface Conversion {
  eventId: string
  contactId: string
  /** The event's name, chosen by the caller. */
  event: string
  type: ConversionType
  /** Epoch milliseconds. */
  occurredAt: number
  amount: number | null
  /** In upper case; null when there is no amount. */
  currency: string | null
  idempotencyKey: string | null
  /** In lower case, the primary one first. */
  emails: string[]
  /** E.164 digits without the plus sign, the primary one first. */
  phones: string[]
  customerId: string | null
  /**
   * For each kind that the destination accepts, the newest click before the conversion, as known when the conversion
   * was queued. `at`: epoch milliseconds.
   */
  clicks: Partial<Record<ClickKind, { id: string; at: number }>>
}

const MAX_KEY_LENGTH = 64

/**
 * Returns the id by which a platform recognises a conversion that it already has: the caller's idempotency key, which a
 * pixel in the page can also send, or the event's id if there is no key or the key is longer than platforms accept.
 */
export function deduplicationId({ idempotencyKey, eventId }: Conversion): string {
  return idempotencyKey !== null && idempotencyKey.length <= MAX_KEY_LENGTH ? idempotencyKey : eventId
}
