/** What brought the money. */
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
import { authenticateRead } from '../access/authenticate-read.ts'
import { invalidRequest } from '../http/check-body.ts'
import { type RequestContext, type AppContext, KEYED_ERRORS, type Reply, type Route } from '../app-context.ts'
import { queryOf } from '../http/read-page.ts'

const DEFAULT_MS = 30 * 86_400_000

const FOUND = 'What brought it, most revenue first.'

/** A repeat would take as much. */
const TOO_MUCH = {
  message: 'This takes too long or too much memory: ask for a shorter time.',
  headers: { 'Retry-After': '60' },
}

async function getAttribution(app: AppContext, context: RequestContext): Promise<Reply> {
  const { id: businessId } = await authenticateRead(app, context)
  const asked = readQuery(queryOf(context), context.receivedAt)
  const found = await readAttribution(app, { businessId, ...asked })
  if (found === 'too_much') throw new RequestError('unavailable', TOO_MUCH)
  if (!found) throw new RequestError('unavailable')
  const { model, from, to } = asked
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
    contacts: Type.Integer({ minimum: 0, description: 'How many contacts bought.' }),
  },
  { ...closed, description: 'A value that is not known is empty.' },
)

export const AttributionData = Type.Object(
  {
    model: oneOf(ATTRIBUTION_MODELS),
    from: dateTime,
    to: dateTime,
    rows: Type.Array(AttributionRow, { maxItems: MAX_ATTRIBUTION_ROWS, description: 'Most revenue first.' }),
    truncated: Type.Boolean({ description: 'There are more rows.' }),
  },
  closed,
)

export const attributionRoute: Route = {
  method: 'GET',
  path: '/api/analytics/attribution',
  answer: getAttribution,
  operation: {
    summary: 'Read what brought the revenue',
    description:
      'Orders and amounts that happened in the time, by the first or the last touch of the person at or before them. A refund ' +
      'goes where the purchase went.',
    tag: 'Analytics',
    key: 'secret',
    query: {
      from: {
        schema: { type: 'string' },
        description: 'ISO 8601, included; a date is midnight UTC. 30 days before to, when left out.',
      },
      to: { schema: { type: 'string' }, description: 'Excluded; now, when left out.' },
      model: { schema: { enum: ATTRIBUTION_MODELS, default: 'last' }, description: 'Which touch counts.' },
    },
    replies: {
      200: {
        message: FOUND,
        description: 'Most revenue first; at most 1,000 rows.',
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
