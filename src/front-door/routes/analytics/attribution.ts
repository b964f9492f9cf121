/** Attribution: which touches brought the revenue. */
import { Type } from '@sinclair/typebox'
import {
  ATTRIBUTION_KEYS,
  ATTRIBUTION_MODELS,
  MAX_ATTRIBUTION_ROWS,
  TOUCH_CHANNELS,
} from '../../../analytics/attribution.ts'
import { attributionChart } from '../../../analytics/charts/attribution-chart.ts'
import { closed, dateTime, oneOf, orNull } from '../reply-fields.ts'
import { PERIOD_PARAMETERS, chartEndpoint } from './chart.ts'

const FOUND = 'The revenue by touch, highest first.'

const key = orNull(Type.String({ description: 'Null when the rows are not made by it.' }))

export const AttributionRow = Type.Object(
  {
    channel: orNull(oneOf(TOUCH_CHANNELS)),
    source: key,
    medium: key,
    campaign: key,
    landingPage: orNull(Type.String({ description: 'Address without query and fragment.' })),
    currency: orNull(Type.String({ description: 'Null for orders without an amount.' })),
    revenue: Type.Number({ description: 'Net of refunds.' }),
    refunds: Type.Number({ minimum: 0 }),
    orders: Type.Number({ minimum: 0, description: 'With parts of orders, if the model divides them.' }),
    conversions: Type.Number({ minimum: 0, description: 'Orders, or with `event` the events of this name, likewise.' }),
    contacts: Type.Integer({ minimum: 0, description: 'The number of contacts that bought, or did the event.' }),
    spend: orNull(
      Type.Number({
        minimum: 0,
        description: 'In the currency. Null when the rows are made by what spend does not have.',
      }),
    ),
    returnOnSpend: orNull(Type.Number({ description: 'Revenue by spend. Null without spend.' })),
  },
  { ...closed, description: 'An unknown value is an empty string.' },
)

export const AttributionData = Type.Object(
  {
    model: oneOf(ATTRIBUTION_MODELS),
    by: oneOf(ATTRIBUTION_KEYS),
    event: orNull(Type.String()),
    from: dateTime,
    to: dateTime,
    rows: Type.Array(AttributionRow, { maxItems: MAX_ATTRIBUTION_ROWS, description: 'Highest revenue first.' }),
    truncated: Type.Boolean({ description: 'True when there are more rows.' }),
  },
  closed,
)

export const attributionEndpoint = chartEndpoint({
  path: '/attribution',
  message: FOUND,
  chart: attributionChart,
  operation: {
    summary: 'Read what brought the revenue',
    description:
      'Orders and amounts in the time range, by the touches of the person before each order. A refund counts for the touches of ' +
      'its purchase. By channel, source and campaign, what was spent on them stands beside the revenue, by currency: spend of the days ' +
      'that begin in the time range.',
    query: {
      ...PERIOD_PARAMETERS,
      model: {
        schema: { enum: ATTRIBUTION_MODELS, default: 'last' },
        description:
          'Which touch gets the revenue: the first, the last, or all. `linear`: in equal parts. `time_decay`: half as much for a touch ' +
          'that was 7 days earlier. `position`: 40 % for the first and the last, the rest for those between them.',
      },
      by: {
        schema: { enum: ATTRIBUTION_KEYS, default: 'touch' },
        description: 'What the rows are made by; `touch`: channel, source, medium and campaign together.',
      },
      event: {
        schema: { type: 'string', maxLength: 64 },
        description: 'The name of an event: only what has this name counts, whether or not it is an order.',
      },
    },
  },
  reply: {
    description: 'Highest revenue first; at most 1,000 rows.',
    data: AttributionData,
    example: {
      model: 'last',
      by: 'channel',
      event: null,
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      rows: [
        {
          channel: 'paid_search',
          source: null,
          medium: null,
          campaign: null,
          landingPage: null,
          currency: 'USD',
          revenue: 1249.5,
          refunds: 50,
          orders: 26,
          conversions: 26,
          contacts: 24,
          spend: 499.8,
          returnOnSpend: 2.5,
        },
      ],
      truncated: false,
    },
  },
})
