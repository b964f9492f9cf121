/** Schemas of the bodies and answers of the spend routes. */
import { Type } from '@sinclair/typebox'
import { MAX_CAMPAIGN, MAX_SOURCE, MAX_SPEND, SPEND_CHANNELS } from '../../../analytics/spend-row.ts'
import { optionalText } from '../body-fields.ts'
import { closed, count, nextCursor, oneOf } from '../reply-fields.ts'

export const MAX_ITEMS = 1000
const list = { minItems: 1, maxItems: MAX_ITEMS }

/** Rows are read by their own rules (src/analytics/spend-row.ts), which also apply to files. */
export const SpendFrameSchema = Type.Object({ spend: Type.Array(Type.Unknown(), list) })

const day = Type.String({ format: 'date', description: "A day of the business's time zone.", examples: ['2026-02-28'] })
const channel = oneOf(SPEND_CHANNELS)
const source = 'As `utm_source` of the links, or the host of the page with the link.'

/** For the OpenAPI document only. */
export const NewSpendSchema = Type.Object({
  spend: Type.Array(
    Type.Object({
      day,
      channel,
      source: optionalText(MAX_SOURCE, source, 'google'),
      campaign: optionalText(MAX_CAMPAIGN, 'As `utm_campaign` of the links.', 'spring'),
      currency: optionalText(8, 'When left out: that of the business.', 'EUR'),
      amount: Type.Union(
        [Type.Number({ minimum: 0, maximum: MAX_SPEND }), Type.String({ pattern: String.raw`^\d{1,13}(\.\d{1,4})?$` })],
        { description: 'With at most 4 decimals. A text stays exact where a number does not.', examples: ['120.50'] },
      ),
    }),
    { ...list, description: 'Of each day, channel, source, campaign and currency one row at most.' },
  ),
})

const spend = Type.Object(
  {
    day,
    channel,
    source: Type.String(),
    campaign: Type.String(),
    currency: Type.String(),
    amount: Type.String({ description: 'An exact decimal number.' }),
  },
  closed,
)

export const SpendData = Type.Object({ spend: Type.Array(spend), nextCursor }, closed)

export const SavedData = Type.Object(
  {
    received: count,
    added: count,
    changed: Type.Integer({ minimum: 0, description: 'Rows that were there with another amount.' }),
  },
  closed,
)

export const DeletedData = Type.Object(
  { deleted: count, hasMore: Type.Boolean({ description: 'Rows are left in the range: send the request again.' }) },
  closed,
)
