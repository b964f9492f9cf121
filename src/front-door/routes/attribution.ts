/** Attribution: which touches brought the revenue. */
import { closed, oneOf, orNull, dateTime, count } from './reply-fields.ts'
import { Type } from '@sinclair/typebox'
import {
  ATTRIBUTION_MODELS,
  MAX_ATTRIBUTION_ROWS,
  TOUCH_CHANNELS,
  type AttributionModel,
  readAttribution,
} from '../../timeline/read-attribution.ts'
import { type Issue, RequestError } from '../../errors.ts'
import { readIso } from '../../rules/events/read-iso.ts'
import { type Principal, keyRead } from '../access/principal.ts'
import { invalidRequest } from '../http/check-body.ts'
import { type RequestContext, type AppContext, KEYED_ERRORS, type Reply, type Route } from '../app-context.ts'
import { queryOf } from '../http/read-page.ts'

const DEFAULT_MS = 30 * 86_400_000

const FOUND = 'The revenue by touch, highest first.'

/** The same query would take as long again, so Retry-After is long. */
const TOO_MUCH = {
  message: 'The query takes too long or too much memory. Request a shorter time range.',
  headers: { 'Retry-After': '60' },
}

async function getAttribution(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const businessId = principal.business.id
  const range = readQuery(queryOf(context), context.receivedAt)
  const found = await readAttribution(app, { businessId, ...range })
  if (found === 'too_much') throw new RequestError('unavailable', TOO_MUCH)
  if (!found) throw new RequestError('unavailable')
  const { model, from, to } = range
  const data = { model, from: new Date(from).toISOString(), to: new Date(to).toISOString(), ...found }
  return { message: FOUND, data }
}

function readQuery(query: URLSearchParams, now: number): { model: AttributionModel; from: number; to: number } {
  const model = ATTRIBUTION_MODELS.find((one) => one === (query.get('model') ?? 'last'))
  const to = readInstant(query.get('to'), now)
  const from = readInstant(query.get('from'), (to ?? now) - DEFAULT_MS)
  const issues: Issue[] = []
  if (model === undefined) issues.push({ path: 'model', message: 'model must be first or last' })
  for (const [path, at] of Object.entries({ from, to })) {
    if (at === undefined) issues.push({ path, message: `${path} must be an ISO 8601 date or date-time` })
  }
  if (from !== undefined && to !== undefined && from >= to)
    issues.push({ path: 'from', message: 'from must be before to' })
  if (model === undefined || from === undefined || to === undefined || issues.length > 0) throw invalidRequest(issues)
  return { model, from, to }
}

const readInstant = (text: string | null, otherwise: number) => (text === null ? otherwise : readIso(text.trim()))

export const AttributionRow = Type.Object(
  {
    channel: oneOf(TOUCH_CHANNELS),
    source: Type.String(),
    medium: Type.String(),
    campaign: Type.String(),
    currency: orNull(Type.String({ description: 'Null for orders without an amount.' })),
    revenue: Type.Number({ description: 'Net of refunds.' }),
    refunds: Type.Number({ minimum: 0 }),
    orders: count,
    contacts: Type.Integer({ minimum: 0, description: 'The number of contacts that bought.' }),
  },
  { ...closed, description: 'An unknown value is an empty string.' },
)

export const AttributionData = Type.Object(
  {
    model: oneOf(ATTRIBUTION_MODELS),
    from: dateTime,
    to: dateTime,
    rows: Type.Array(AttributionRow, { maxItems: MAX_ATTRIBUTION_ROWS, description: 'Highest revenue first.' }),
    truncated: Type.Boolean({ description: 'True when there are more rows.' }),
  },
  closed,
)

export const attributionRoute: Route = {
  method: 'GET',
  path: '/api/analytics/attribution',
  answer: keyRead(getAttribution),
  operation: {
    summary: 'Read what brought the revenue',
    description:
      'Orders and amounts in the time range, by the first or the last touch of the person before each order. A refund counts ' +
      'for the touch of its purchase.',
    tag: 'Analytics',
    key: 'secret',
    query: {
      from: {
        schema: { type: 'string' },
        description: 'Start, inclusive: ISO 8601; a date is midnight UTC. When left out: 30 days before `to`.',
      },
      to: { schema: { type: 'string' }, description: 'End, exclusive. When left out: now.' },
      model: { schema: { enum: ATTRIBUTION_MODELS, default: 'last' }, description: 'Which touch gets the revenue.' },
    },
    replies: {
      200: {
        message: FOUND,
        description: 'Highest revenue first; at most 1,000 rows.',
        data: AttributionData,
        example: {
          model: 'last',
          from: '2026-02-01T00:00:00.000Z',
          to: '2026-03-01T00:00:00.000Z',
          rows: [
            {
              channel: 'paid_search',
              source: 'google',
              medium: 'cpc',
              campaign: 'spring',
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
    },
    errors: [...KEYED_ERRORS, 'invalid_request'],
  },
}
