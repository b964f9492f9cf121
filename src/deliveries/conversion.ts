import type { ConversionType } from '../rules/events/facts.ts'

/** The kinds of click id that the browser script keeps; `ttclid` and `msclkid` are for webhooks alone. */
export type ClickKind = 'gclid' | 'gbraid' | 'wbraid' | 'fbclid' | 'msclkid' | 'ttclid'

/** What an adapter knows of a conversion, and of whose it is now. */
export interface Conversion {
  eventId: string
  contactId: string
  /** As the caller named it. */
  event: string
  type: ConversionType
  /** Epoch ms. */
  occurredAt: number
  amount: number | null
  /** Upper-cased; null when there is no amount. */
  currency: string | null
  idempotencyKey: string | null
  /** Lower-cased, the primary one first. */
  emails: string[]
  /** E.164 digits without the plus sign, the primary one first. */
  phones: string[]
  customerId: string | null
  /** Of each kind that its destination takes the newest before the conversion, as known when it was queued; `at` is epoch ms. */
  clicks: Partial<Record<ClickKind, { id: string; at: number }>>
}

const LONGEST_KEY = 64

/**
 * By this a platform knows a conversion that it has already: the caller's idempotency key, which a pixel in the page can
 * send too, unless it is longer than platforms take.
 */
export function deduplicationId({ idempotencyKey, eventId }: Conversion): string {
  return idempotencyKey !== null && idempotencyKey.length <= LONGEST_KEY ? idempotencyKey : eventId
}
