/** What the endpoints of charts have in common. */
import { markOf } from '../../../analytics/chart-progress.ts'
import { type ReadLimits, QueryFault, READ_LIMITS, openReader } from '../../../analytics/read-rows.ts'
import { RequestError } from '../../../errors.ts'
import type { Handler } from '../../access/principal.ts'
import { readId } from '../../http/read-id.ts'
import type { BusinessEndpoint, ChartSource } from '../business-endpoint.ts'
import { MAX_BUCKETS } from './read-parameters.ts'

interface Chart extends Pick<BusinessEndpoint, 'path'> {
  /** Of the answer. */
  message: string
  permission?: BusinessEndpoint['permission']
  limits?: ReadLimits
  /** False for what is read again and again, and quick. */
  isCostly?: boolean
  read: ChartSource['read']
  operation: Omit<BusinessEndpoint['operation'], 'tag' | 'replies'>
  reply: Omit<BusinessEndpoint['operation']['replies'][number], 'message'>
}

export function chartEndpoint({
  path,
  message,
  permission = 'lists:read',
  limits = READ_LIMITS,
  isCostly = true,
  read,
  operation,
  reply,
}: Chart): BusinessEndpoint {
  const handler: Handler = async (app, context, principal) => {
    const { clickhouse, log } = app
    const { signal, headers } = context.request
    const chartId = readId(headers.get(CHART_ID) ?? undefined)
    const mark = chartId === null ? {} : { mark: markOf(principal.business.id, chartId) }
    const reader = openReader({ clickhouse, log, signal, ...mark }, limits)
    try {
      return { message, data: await read(app, context, principal, reader) }
    } catch (error) {
      if (!(error instanceof QueryFault)) throw error
      throw new RequestError('unavailable', error.reason === 'too_much' ? TOO_MUCH : {})
    }
  }
  return {
    method: 'GET',
    path: `/analytics${path}`,
    permission,
    ...(isCostly && { isCostly }),
    handler,
    source: { limits, read },
    operation: { ...operation, tag: 'Analytics', replies: { 200: { message, ...reply } } },
    errors: ['invalid_request'],
  }
}

/** A page that wants to know how far its chart is names it, by a UUID. */
const CHART_ID = 'sluice-chart-id'

/** The same query would take as long again, so Retry-After is long. */
const TOO_MUCH = {
  message:
    'The query takes too long or too much memory. Request a shorter time range, fewer events or steps, or no breakdown.',
  headers: { 'Retry-After': '60' },
}

const text = { type: 'string' }

export const PERIOD_PARAMETERS = {
  from: {
    schema: text,
    description:
      'Start, inclusive: ISO 8601; a date is midnight in the time zone of the business. When left out: 30 days before `to`.',
  },
  to: { schema: text, description: 'End, exclusive, likewise. When left out: now.' },
}

export const intervalParameter = (choices: readonly string[], otherwise: string, most = MAX_BUCKETS) => ({
  interval: {
    schema: { enum: choices, default: otherwise },
    description: `In the time zone of the business; weeks begin on Monday. At most ${most.toLocaleString('en')} in the time range.`,
  },
})

export const toIso = (at: number): string => new Date(at).toISOString()
