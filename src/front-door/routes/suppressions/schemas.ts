/** Schemas of the bodies and answers of the suppression routes. */
import { Type } from '@sinclair/typebox'
import { ADDRESS_CHANNELS, SUPPRESSION_REASONS } from '../../../rules/messages/suppression.ts'
import { text } from '../body-fields.ts'
import { closed, count, dateTime, nextCursor, oneOf, pageFailureList, uuid } from '../reply-fields.ts'

export const MAX_ITEMS = 500

export const SuppressionItemSchema = Type.Object({
  channel: oneOf(ADDRESS_CHANNELS),
  address: text(
    1,
    320,
    'An email address, or a phone number for `sms` and `whatsapp`. It may be one cell of an exported line.',
    'ada@example.com',
  ),
  reason: Type.Optional(
    Type.Unsafe<(typeof SUPPRESSION_REASONS)[number]>({ ...oneOf(SUPPRESSION_REASONS), default: 'manual' }),
  ),
})

const list = { minItems: 1, maxItems: MAX_ITEMS }

/** Items are checked one by one, and fail individually. */
export const SuppressionFrameSchema = Type.Object({ suppressions: Type.Array(Type.Unknown(), list) })

/** For the OpenAPI document only. */
export const NewSuppressionsSchema = Type.Object({ suppressions: Type.Array(SuppressionItemSchema, list) })

const suppression = Type.Object(
  { suppressionId: uuid, channel: oneOf(ADDRESS_CHANNELS), reason: oneOf(SUPPRESSION_REASONS), at: dateTime },
  closed,
)

export const SuppressionsData = Type.Object({ suppressions: Type.Array(suppression), nextCursor }, closed)

export const AddedData = Type.Object(
  {
    received: count,
    added: count,
    known: Type.Integer({ minimum: 0, description: 'Items that were suppressed for this reason already.' }),
    failed: count,
    failures: pageFailureList,
  },
  closed,
)

export const LiftedData = Type.Object({ suppressionId: uuid }, closed)

export const LiftedManyData = Type.Object(
  { lifted: count, hasMore: Type.Boolean({ description: 'Others are left that fit: send the request again.' }) },
  closed,
)
