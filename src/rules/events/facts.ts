/**
 * The facts that callers report, as the front door has read them: normalised, sanitised and within the limits of the
 * contract. The facts are plain JSON because the stream carries them to a worker. The worker checks them against the
 * same schemas, so each field is defined once.
 */
import { type Static, type TObject, type TOptional, type TSchema, Type } from '@sinclair/typebox'
import { oneOf, orNull } from '../schemas.ts'

const text = Type.String()
const optionals = <Name extends string, Schema extends TSchema>(names: readonly Name[], schema: Schema) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(schema)]))) as unknown as TObject<
    Record<Name, TOptional<Schema>>
  >
/** The range of a JavaScript date. Every store accepts these times; a time outside would be rejected on every retry. */
const MAX_DATE_MS = 8.64e15
/** Epoch ms. */
const instant = Type.Integer({ minimum: -MAX_DATE_MS, maximum: MAX_DATE_MS })
const whole = Type.Integer({ minimum: 0, maximum: MAX_DATE_MS })
/** Text without NUL and lone surrogates, which Postgres cannot store. */
const clean = Type.RegExp(/^[^\0\p{Surrogate}]*$/u)

/** A JSON scalar as the value of a trait. */
export type TraitValue = string | number | boolean | null
const Traits = Type.Record(text, orNull(Type.Union([text, Type.Number(), Type.Boolean()])))

/** The kinds of identity, in order of strength (decisions, "Identity"). */
export const IDENTITY_KINDS = ['platformCustomerId', 'email', 'phone'] as const
export type IdentityKind = (typeof IDENTITY_KINDS)[number]

/**
 * The normalised identity of one call, with at least one field. `email` is lower-cased, `platformCustomerId` is
 * trimmed, and `phone` is what `readPhone` returns.
 */
export const Identity = Type.Object({
  platformCustomerId: Type.Optional(text),
  email: Type.Optional(text),
  phone: Type.Optional(text),
  /** True when the phone was read as a possible E.164 number. It is then shown with a `+`. */
  phoneRead: Type.Optional(Type.Boolean()),
})
export type Identity = Static<typeof Identity>

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
export const INTERPRETED_TYPES: readonly InterpretedType[] = [...EVENT_TYPES, 'none']

/** The types that can be sent to ad platforms and webhooks. */
export const CONVERSION_TYPES = ['purchase', 'lead', 'booking'] as const satisfies EventType[]
export type ConversionType = (typeof CONVERSION_TYPES)[number]

/** The meaning of an event for revenue and orders (decisions, "Meaning of an event"). */
export const Meaning = Type.Object({
  type: oneOf(INTERPRETED_TYPES),
  /**
   * The signed amount that is added to the revenue, as a decimal string with at most six decimals. `"0"` when nothing
   * counts.
   */
  counted: Type.String({ pattern: '^-?\\d+(\\.\\d+)?$' }),
  /** The currency of `counted`, in upper case; null when no `value` was sent. */
  currency: orNull(text),
  /** True when the event counts as one order. */
  order: Type.Boolean(),
  /** A warning about the amount. A repeated event counts no amount and omits this warning. */
  warning: Type.Optional(text),
})
export type Meaning = Static<typeof Meaning>

/**
 * One event, ready to be recorded. Times are epoch ms. New fields must be optional: streams and dead letters contain
 * requests of earlier versions.
 */
export const EventFact = Type.Object({
  event: text,
  identity: Identity,
  occurredAt: instant,
  /** True when the caller sent `occurredAt`. Otherwise the traits of a repeat get the time of the recorded event. */
  occurredAtSent: Type.Boolean(),
  meaning: Meaning,
  /** The amount as sent, for the timeline. */
  value: orNull(Type.Number()),
  /** Compact JSON text of the sanitised object; null when none was sent. */
  properties: orNull(text),
  /** Trimmed, without duplicates. */
  tags: Type.Array(text),
  /** Only valid keys; values within their limits. */
  traits: Traits,
  idempotencyKey: orNull(text),
  visitorId: orNull(text),
  /** The warnings of the front door (placeholders dropped, keys skipped, …), except those about the amount. */
  warnings: Type.Array(text),
})
export type EventFact = Static<typeof EventFact>

export const UTM_FIELDS = ['source', 'medium', 'campaign', 'term', 'content', 'id'] as const
export const CLICK_IDS = ['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid'] as const

/** How a visitor arrived. Text is sanitised; missing values are absent. */
export const Touch = Type.Object({
  at: instant,
  url: clean,
  referrer: Type.Optional(clean),
  utm: Type.Optional(optionals(UTM_FIELDS, clean)),
  clickIds: Type.Optional(optionals(CLICK_IDS, clean)),
})
export type Touch = Static<typeof Touch>

/** An action of a visitor on a page. The browser is the only identity. */
export const BrowserFact = Type.Object({
  event: text,
  visitorId: text,
  occurredAt: instant,
  /** Derived only from the event name: no amount is read. */
  meaning: Meaning,
  /** Compact JSON text of the sanitised details; null when none were sent. */
  properties: orNull(text),
  /** The page's id for the call, so that a repeat counts once. */
  messageId: orNull(text),
  /** How the visitor arrived, the first time and the last time. */
  first: orNull(Touch),
  latest: orNull(Touch),
  warnings: Type.Array(text),
})
export type BrowserFact = Static<typeof BrowserFact>

export const PROFILE_FIELDS = ['firstName', 'lastName', 'country', 'city', 'language', 'timezone'] as const
export type ProfileField = (typeof PROFILE_FIELDS)[number]

/** The checked parts of a profile; absent means not sent. */
export const Profile = optionals(PROFILE_FIELDS, text)
export type Profile = Static<typeof Profile>

/** A person's identity, profile and traits. It records no event. */
export const IdentifyFact = Type.Object({
  identity: Identity,
  profile: Profile,
  traits: Traits,
  method: orNull(text),
  visitorId: orNull(text),
  /** Milliseconds between the identification by the caller and the receipt. */
  ageMs: Type.Optional(whole),
  /** The time of the traits. Default: the time of receipt. */
  traitsAt: Type.Optional(instant),
  warnings: Type.Array(text),
})
export type IdentifyFact = Static<typeof IdentifyFact>

/** An operator's edit of a contact. Null clears a field. Addresses are normalised. */
export const EditFact = Type.Object({
  profile: optionals(PROFILE_FIELDS, orNull(text)),
  traits: Traits,
  addTags: Type.Array(text),
  removeTags: Type.Array(text),
  primary: Type.Optional(optionals(['email', 'phone'], text)),
  /** A list: spellings of one address, of which the contact loses the first that it has. */
  removed: Type.Optional(optionals(['email', 'phone'], Type.Array(Type.Union([text, Type.Array(text)])))),
  warnings: Type.Array(text),
})
export type EditFact = Static<typeof EditFact>

export const CHANNELS = ['email', 'sms', 'whatsapp', 'push'] as const
export type Channel = (typeof CHANNELS)[number]
/** An opt-in (true) or opt-out (false) per channel. An absent channel does not change. */
export const Subscriptions = optionals(CHANNELS, Type.Boolean())
export type Subscriptions = Static<typeof Subscriptions>

export const FIELD_TYPES = ['Number', 'Boolean', 'Date', 'Text'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

/** How an event was sent. Only `live` and `browser` events can enrol contacts in campaigns. */
export const SOURCES = ['live', 'batch', 'browser'] as const
export type Source = (typeof SOURCES)[number]
