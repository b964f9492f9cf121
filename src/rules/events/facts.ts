/**
 * The words of the rules: what a caller reported, after the front door has read it.
 * Everything here is normalised, sanitised and within the contract's limits; all of it is plain JSON,
 * since it travels through the stream to a worker.
 */

/** A JSON scalar as a trait may hold it. */
export type TraitValue = string | number | boolean | null

/** The kinds of identity, in order of strength (decisions, "Identity"). */
export const IDENTITY_KINDS = ['platformCustomerId', 'email', 'phone'] as const
export type IdentityKind = (typeof IDENTITY_KINDS)[number]

/**
 * The normalised identity of one call; at least one field is there.
 * `email` is lower-cased, `platformCustomerId` a trimmed string, `phone` digits alone.
 */
export interface Identity {
  platformCustomerId?: string
  email?: string
  phone?: string
  /** True when the phone was read as a possible E.164 number: it is then shown with a `+`. */
  phoneRead?: boolean
}

export const EVENT_TYPES = [
  'purchase',
  'refund',
  'booking',
  'lead',
  'checkout_started',
  'fulfilled',
  'cancelled',
] as const
export type EventType = (typeof EVENT_TYPES)[number]
export type InterpretedType = EventType | 'none'

/** The types that ad platforms and webhooks can be told of. */
export const CONVERSION_TYPES = ['purchase', 'lead', 'booking'] as const satisfies EventType[]
export type ConversionType = (typeof CONVERSION_TYPES)[number]

/** What an event means for revenue and orders (decisions, "Meaning of an event"). */
export interface Meaning {
  type: InterpretedType
  /** Decimal string with at most six decimals, signed: what is added to the revenue. `"0"` when nothing counts. */
  counted: string
  /** The currency counted in, upper-cased; null when no `value` was sent. */
  currency: string | null
  /** True when it is one order. */
  order: boolean
  /** What is to be said of the amount. A repeat counts none, and does not say it. */
  warning?: string
}

/** One event, ready to be recorded. Times are epoch milliseconds. */
export interface EventFact {
  event: string
  identity: Identity
  occurredAt: number
  /** True when the caller sent `occurredAt` (a repeat's traits count as of the recorded event's time otherwise). */
  occurredAtSent: boolean
  meaning: Meaning
  /** The amount as sent, for the timeline. */
  value: number | null
  /** Compact JSON text of the sanitised object; null when none was sent. */
  properties: string | null
  /** Trimmed, without repeats. */
  tags: string[]
  /** Keys of the right shape only; values within their limits. */
  traits: Record<string, TraitValue>
  idempotencyKey: string | null
  visitorId: string | null
  /** What the front door already had to say (placeholders dropped, keys skipped, …), except of the amount. */
  warnings: string[]
}

/** How a visitor came. Text is sanitised; what was not said is absent. */
export interface Touch {
  /** Epoch ms. */
  at: number
  url: string
  referrer?: string
  utm?: Partial<Record<(typeof UTM_FIELDS)[number], string>>
  clickIds?: Partial<Record<(typeof CLICK_IDS)[number], string>>
}
export const UTM_FIELDS = ['source', 'medium', 'campaign', 'term', 'content', 'id'] as const
export const CLICK_IDS = ['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid'] as const

/** What somebody did in a page: known by the browser alone. */
export interface BrowserFact {
  event: string
  visitorId: string
  /** Epoch ms. */
  occurredAt: number
  /** As the name says: no amount is read. */
  meaning: Meaning
  /** Compact JSON text of the sanitised details; null when none were sent. */
  properties: string | null
  /** The page's own id of the call: a repeat counts once. */
  messageId: string | null
  /** How the visitor came, the first time and the latest. */
  first: Touch | null
  latest: Touch | null
  warnings: string[]
}

/** The parts of a profile, checked; absent means not sent. */
export interface Profile {
  firstName?: string
  lastName?: string
  country?: string
  city?: string
  language?: string
  timezone?: string
}
export const PROFILE_FIELDS = ['firstName', 'lastName', 'country', 'city', 'language', 'timezone'] as const
export type ProfileField = (typeof PROFILE_FIELDS)[number]

/** Who someone is and what to call them; no event. */
export interface IdentifyFact {
  identity: Identity
  profile: Profile
  traits: Record<string, TraitValue>
  method: string | null
  visitorId: string | null
  /** How long before the receipt it was said. */
  ageMs?: number
  /** Epoch ms as of which the traits count; as of the receipt when absent. */
  traitsAt?: number
  warnings: string[]
}

/** What an operator sets of a contact; null clears. */
export interface EditFact {
  profile: Partial<Record<ProfileField, string | null>>
  traits: Record<string, TraitValue>
  addTags: string[]
  removeTags: string[]
  warnings: string[]
}

export const CHANNELS = ['email', 'sms', 'whatsapp', 'push'] as const
export type Channel = (typeof CHANNELS)[number]
/** An opt-in (true) or opt-out (false) per channel named. */
export type Subscriptions = Record<Channel, boolean>

export const FIELD_TYPES = ['Number', 'Boolean', 'Date', 'Text'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

/** How an event came in. Only `live` and `browser` can enrol. */
export type Source = 'live' | 'batch' | 'browser'
