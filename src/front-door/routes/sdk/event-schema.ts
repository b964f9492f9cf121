/**
 * The body of an event, alone and in a batch. The schemas of bodies check a body and describe it in the OpenAPI document.
 * Lengths hold after trimming (check-body.ts). The rules check what depends on meaning: an email, an instant, a placeholder,
 * the key of a trait.
 */
import { type Static, Type } from '@sinclair/typebox'
import { text, visitorId, businessId, IdentitySchema, traits, instant } from '../body-fields.ts'
import { EVENT_TYPES } from '../../../rules/events/facts.ts'
import { MAX_DEPTH } from '../../../rules/events/text.ts'

const MAX_BATCH = 500

export const idempotencyKey = text(
  1,
  200,
  'Unique per business, without expiry: an event with a known key is not recorded again.',
  'order-9917',
)

const eventFields = {
  event: text(1, 64, 'The name of the event. Trimmed, otherwise stored as sent.', 'invoice_paid'),
  identity: IdentitySchema,
  occurredAt: instant(''),
  type: Type.Optional(
    Type.Union(
      EVENT_TYPES.map((type) => Type.Literal(type)),
      {
        description:
          'The meaning of the event. It takes precedence over the name and the value. When left out, a `value` above 0 means a ' +
          'purchase and one below 0 a refund, for any name; else a recognised name decides (docs/events.md); else it is `none`.',
      },
    ),
  ),
  value: Type.Optional(
    Type.Number({
      description:
        'The amount in units of the currency, not in cents. A purchase adds it to the revenue, a refund subtracts its absolute ' +
        'value, and any other `type` ignores it. A refund is `type: "refund"` or a negative value; a name never makes a refund.',
      examples: [49.9],
    }),
  ),
  currency: Type.Optional(
    text(
      1,
      8,
      "Stored in upper case. When left out: the business's currency at the time of receipt (USD by default).",
      'USD',
    ),
  ),
  properties: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Any JSON object: at most 32,768 bytes as compact JSON, nested at most ${MAX_DEPTH} levels deep.`,
      examples: [{ invoice: 'INV-7' }],
    }),
  ),
  tags: Type.Optional(
    Type.Array(text(1, 64, 'A tag.'), {
      maxItems: 50,
      description: 'Added to the contact. A contact has at most 1,000 tags.',
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
const BatchItemSchema = Type.Object(eventFields)

export const BatchSchema = Type.Object({
  events: Type.Array(BatchItemSchema, { minItems: 1, maxItems: MAX_BATCH }),
})

/** The outer shape of a batch. Its items are checked one by one, and fail alone. */
export const BatchFrameSchema = Type.Object({
  events: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
})

export type EventBody = Static<typeof EventSchema>
