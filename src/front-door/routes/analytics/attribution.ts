/** Attribution: which touches brought the revenue. */
import { Type } from '@sinclair/typebox'
import {
  ATTRIBUTION_KEYS,
  ATTRIBUTION_MODELS,
  MAX_ATTRIBUTION_ROWS,
  TOUCH_CHANNELS,
  readAttribution,
} from '../../../analytics/attribution.ts'
import { READ_LIMITS } from '../../../analytics/read-rows.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { closed, dateTime, oneOf, orNull } from '../reply-fields.ts'
import { PERIOD_PARAMETERS, chartEndpoint, toIso } from './chart.ts'
import { readChoice, readParameters, readPeriod } from './read-parameters.ts'

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
    contacts: Type.Integer({ minimum: 0, description: 'The number of contacts that bought.' }),
  },
  { ...closed, description: 'An unknown value is an empty string.' },
)

export const AttributionData = Type.Object(
  {
    model: oneOf(ATTRIBUTION_MODELS),
    by: oneOf(ATTRIBUTION_KEYS),
    from: dateTime,
    to: dateTime,
    rows: Type.Array(AttributionRow, { maxItems: MAX_ATTRIBUTION_ROWS, description: 'Highest revenue first.' }),
    truncated: Type.Boolean({ description: 'True when there are more rows.' }),
  },
  closed,
)

export const attributionEndpoint: BusinessEndpoint = chartEndpoint({
  path: '/attribution',
  message: FOUND,
  // Touches are many, and sorted.
  limits: { ...READ_LIMITS, bytes: 1024 ** 3 },
  async read(_, context, principal, reader) {
    const { model, by, from, to } = readParameters(context, principal, (parameters) => {
      const model = readChoice(parameters, 'model', ATTRIBUTION_MODELS, 'last')
      const by = readChoice(parameters, 'by', ATTRIBUTION_KEYS, 'touch')
      const period = readPeriod(parameters)
      return period && { model, by, ...period }
    })
    const found = await readAttribution(reader, { businessId: principal.business.id, model, by, from, to })
    return { model, by, from: toIso(from), to: toIso(to), ...found }
  },
  operation: {
    summary: 'Read what brought the revenue',
    description:
      'Orders and amounts in the time range, by the touches of the person before each order. A refund counts for the touches of ' +
      'its purchase.',
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
    },
  },
  reply: {
    description: 'Highest revenue first; at most 1,000 rows.',
    data: AttributionData,
    example: {
      model: 'last',
      by: 'touch',
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      rows: [
        {
          channel: 'paid_search',
          source: 'google',
          medium: 'cpc',
          campaign: 'spring',
          landingPage: null,
          currency: 'USD',
          revenue: 1249.5,
          refunds: 50,
          orders: 26,
          contacts: 24,
        },
      ],
      truncated: false,
    },
  },
})
