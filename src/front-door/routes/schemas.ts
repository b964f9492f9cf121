/**
 * The bodies that callers send (contract, "Resources and their fields"). The same schemas check a body and describe it in
 * the OpenAPI document. Lengths hold after trimming (clean-body.ts). What needs meaning and not shape (an email, an instant,
 * a placeholder, a trait key) is the business of the rules.
 */
import { type Static, Type } from '@sinclair/typebox'
import { CLICK_IDS, EVENT_TYPES, UTM_FIELDS } from '../../rules/events/facts.ts'
import { MAX_DEPTH } from '../../rules/events/text.ts'

export const MAX_BATCH = 500
const PROFILE_LENGTH = 256

const text = (minLength: number, maxLength: number, description: string, ...examples: string[]) =>
  Type.String({ minLength, maxLength, description, examples })
const optionalText = (maxLength: number, description: string, ...examples: string[]) =>
  Type.Optional(Type.String({ maxLength, description, examples }))

const idempotencyKey = text(1, 200, 'Unique per business, for ever: a repeat is not recorded again.', 'order-9917')
const visitorId = optionalText(
  128,
  'Links the call to a known browser session. One visitor id belongs to at most 1,000 contacts.',
)
const businessId = Type.Optional(
  Type.String({ description: 'Cross-check: must be the business that the key belongs to.' }),
)

export const IdentitySchema = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        description:
          '3 to 320 characters; compared trimmed and in lower case. `null@null` and the like are ignored. A contact has at most 100.',
        examples: ['ada@example.com'],
      }),
    ),
    phone: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description:
          "Any format, at most 64 characters. Without + it is a number of the business's country, and the calling code of " +
          'that country may stand in front. One that cannot be read is found by the same digits alone. A contact has at most 100.',
        examples: ['+972501234567'],
      }),
    ),
    platformCustomerId: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description: 'Your own user id, 1 to 255 characters; 42 and "42" are one id.',
        examples: ['42'],
      }),
    ),
  },
  { description: 'Who it is about: at least one usable field.' },
)

const traits = Type.Optional(
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
    description:
      'Current state, newest wins, written to custom fields. Keys are snake_case; null clears. Any other key, or a longer string than 4,096 characters, is skipped; of the others 500 are taken. A contact remembers at most 1,000 cleared keys that have no field.',
    examples: [{ plan: 'pro', seats: 5 }],
  }),
)

const instant = (more: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Number()], {
      description:
        'ISO 8601 (a date, or a date and a time; UTC without an offset; the basic form, 20260301T093000Z, needs a time), or epoch milliseconds; any past ' +
        `time, at most 5 minutes ahead. Now when left out.${more}`,
      examples: ['2026-03-01T09:30:00Z', 1_772_357_400_000],
    }),
  )

const eventFields = {
  event: text(1, 64, 'Kept exactly as sent, trimmed.', 'invoice_paid'),
  identity: IdentitySchema,
  occurredAt: instant(''),
  type: Type.Optional(
    Type.Union(
      EVENT_TYPES.map((type) => Type.Literal(type)),
      {
        description:
          'What the event means; wins over the name and the value. Left out: a `value` above 0 is a purchase and one below 0 a ' +
          'refund, whatever the name; else a recognised name decides (docs/events.md); else it is `none`.',
      },
    ),
  ),
  value: Type.Optional(
    Type.Number({
      description:
        'The amount, in units of the currency, not in cents. A purchase adds it to the revenue, a refund takes its size away, any ' +
        'other `type` counts none of it. A refund is `type: "refund"` or a negative value; no name makes one.',
      examples: [49.9],
    }),
  ),
  currency: Type.Optional(
    text(1, 8, "Upper-cased. The business's default as of receipt when left out: USD, unless it has another.", 'USD'),
  ),
  properties: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Any JSON detail, at most 32,768 bytes as compact JSON, nested at most ${MAX_DEPTH} levels deep.`,
      examples: [{ invoice: 'INV-7' }],
    }),
  ),
  tags: Type.Optional(
    Type.Array(text(1, 64, 'A tag.'), {
      maxItems: 50,
      description: 'Added to the contact, which has at most 1,000.',
      examples: [['vip']],
    }),
  ),
  traits,
  idempotencyKey: Type.Optional(idempotencyKey),
  businessId,
}

/** The body of `track`. */
export const EventSchema = Type.Object({ ...eventFields, visitorId })
/** An element of a batch: every field of an event except `visitorId`. */
export const BatchItemSchema = Type.Object(eventFields)
export const BatchSchema = Type.Object({
  events: Type.Array(BatchItemSchema, { minItems: 1, maxItems: MAX_BATCH }),
})
/** What makes a batch a batch; its items are read one by one, and fail alone. */
export const BatchFrameSchema = Type.Object({
  events: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
})

export const ProfileSchema = Type.Object({
  name: optionalText(PROFILE_LENGTH, 'The whole name: split into first word and rest.', 'Ada Lovelace'),
  firstName: optionalText(PROFILE_LENGTH, 'Wins over name.'),
  lastName: optionalText(PROFILE_LENGTH, 'Wins over name.'),
  country: optionalText(PROFILE_LENGTH, 'Free form.', 'GB'),
  city: optionalText(PROFILE_LENGTH, 'Free form.', 'London'),
  language: optionalText(PROFILE_LENGTH, 'A BCP 47 tag.', 'en'),
  timezone: optionalText(PROFILE_LENGTH, 'An IANA zone name.', 'Europe/London'),
})

const tagsOf = (description: string, example: string) =>
  Type.Optional(Type.Array(text(1, 64, 'A tag.'), { maxItems: 50, description, examples: [[example]] }))
/** What an operator sets of a contact. Nulls in the profile mean something: it is read by hand (read-edit.ts). */
export const EditSchema = Type.Object({
  profile: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Strings as in identify, which replace what is there; null clears. name sets firstName and lastName. An unknown language or ' +
        'timezone is 400.',
      examples: [{ firstName: 'Ada', city: null }],
    }),
  ),
  traits,
  addTags: tagsOf('Added, up to 1,000 of a contact.', 'vip'),
  removeTags: tagsOf('Removed. A repeat of an idempotency key does not bring them back.', 'trial'),
})

const ageMs = Type.Number({ minimum: 0, description: "Milliseconds ago, by the browser's own clock." })
export const IdentifySchema = Type.Object({
  identity: IdentitySchema,
  profile: Type.Optional(ProfileSchema),
  traits,
  occurredAt: instant(' Since when the traits hold; without a secret key it is ignored, as they are.'),
  method: optionalText(64, 'How the person was identified, in your words.', 'signup'),
  visitorId,
  ageMs: Type.Optional({
    ...ageMs,
    description:
      'For a page that sends the call late: how many milliseconds ago it was made, by the clock of the browser.',
  }),
  businessId: Type.Optional({
    ...businessId,
    description:
      'Without a key: names the business, and is required. With one: must be the business that it belongs to.',
  }),
})

const word = optionalText(512, 'As in the address of the page.')
const words = (names: readonly string[], description: string) =>
  Type.Optional(Type.Object(Object.fromEntries(names.map((name) => [name, word])), { description }))
/** How a visitor came. */
export const TouchSchema = Type.Object({
  ageMs,
  url: text(1, 512, 'The page that the visitor came to.', 'https://shop.example/?utm_source=news'),
  referrer: optionalText(512, 'The page of another site that led there.'),
  utm: words(UTM_FIELDS, 'The utm_… parameters.'),
  clickIds: words(CLICK_IDS, 'The click ids of ad platforms.'),
})
/** Of the visitor, in a call from a page. */
export const browserVisitorId = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: '32 lower-case hexadecimal digits, as the browser script makes them',
  examples: ['5f0c6d1be2a94f37a3d8c4b9e17f2a60'],
})

/** What `sluice.track` sends. */
export const BrowserTrackSchema = Type.Object({
  businessId: Type.Optional(Type.String({ description: 'Whose page it is; may be left out with a publishable key.' })),
  visitorId: Type.Optional(browserVisitorId),
  event: text(1, 64, 'Kept exactly as sent, trimmed.', 'demo_requested'),
  details: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        `The properties of the event: any JSON, at most 32,768 bytes as compact JSON, nested at most ${MAX_DEPTH} levels deep. ` +
        'Nothing in them counts as money.',
      examples: [{ plan: 'pro' }],
    }),
  ),
  messageId: Type.Optional(
    text(1, 64, 'The id of this call: a call that is sent twice counts once.', '7c9e6679f2d14a0b'),
  ),
  ageMs: Type.Optional(ageMs),
  first: Type.Optional(TouchSchema),
  latest: Type.Optional(TouchSchema),
})

/** An opt-in (true) or opt-out (false) per channel. */
export const SubscriptionsSchema = Type.Object({
  email: Type.Optional(Type.Boolean()),
  sms: Type.Optional(Type.Boolean()),
  whatsapp: Type.Optional(Type.Boolean()),
  push: Type.Optional(Type.Boolean()),
  method: text(1, 64, 'How the choice was made.', 'signup form'),
})

export const CampaignSchema = Type.Object({
  name: text(1, 256, 'A name for people to read.', 'Welcome'),
  trigger: Type.Object({ event: text(1, 64, 'Starts the campaign for each matching live event.', 'signup') }),
  canEnterAgain: Type.Optional(
    Type.Boolean({
      description: 'True: a contact is enrolled again once its earlier enrolment has ended. False when left out.',
    }),
  ),
  goal: Type.Optional(Type.Object({ event: text(1, 64, 'Ends the enrolment as converted.', 'invoice_paid') })),
})

export type EventBody = Static<typeof EventSchema>
export type IdentifyBody = Static<typeof IdentifySchema>
export type BrowserTrackBody = Static<typeof BrowserTrackSchema>
export type TouchBody = Static<typeof TouchSchema>
export type SubscriptionsBody = Static<typeof SubscriptionsSchema>
export type CampaignBody = Static<typeof CampaignSchema>
