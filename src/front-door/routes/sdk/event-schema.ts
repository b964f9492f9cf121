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
  'Unique per business, for ever: a repeat is not recorded again.',
  'order-9917',
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
const BatchItemSchema = Type.Object(eventFields)

export const BatchSchema = Type.Object({
  events: Type.Array(BatchItemSchema, { minItems: 1, maxItems: MAX_BATCH }),
})

/** What makes a batch a batch; its items are read one by one, and fail alone. */
export const BatchFrameSchema = Type.Object({
  events: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
})

export type EventBody = Static<typeof EventSchema>
