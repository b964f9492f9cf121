/** Common parts of all chart endpoints. */
import { markOf } from '../../../analytics/chart-progress.ts'
import { type ReadLimits, QueryFault, READ_LIMITS, openReader } from '../../../analytics/read-rows.ts'
import { createTtlCache } from '../../../async/ttl-cache.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Handler } from '../../access/principal.ts'
import { readId } from '../../../rules/read-id.ts'
import type { BusinessEndpoint, ChartSource } from '../business-endpoint.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { MAX_BUCKETS } from './read-parameters.ts'

interface Chart extends Pick<BusinessEndpoint, 'path'> {
  /** Message of the answer. */
  message: string
  permission?: BusinessEndpoint['permission']
  limits?: ReadLimits
  /** For endpoints without parameters that pages request repeatedly: all callers of a business share an answer. */
  isShared?: true
  /**
   * The answer contains addresses of the business's pages, which may contain tokens of its own. So it is not
   * compressed.
   */
  holdsPaths?: true
  read: ChartSource['read']
  operation: Omit<BusinessEndpoint['operation'], 'tag' | 'replies'>
  reply: Omit<BusinessEndpoint['operation']['replies'][number], 'message'>
}

export function chartEndpoint({
  path,
  message,
  permission = 'lists:read',
  limits = READ_LIMITS,
  isShared,
  holdsPaths,
  read,
  operation,
  reply,
}: Chart): BusinessEndpoint {
  const answers = createTtlCache<object>(SHARED)
  const handler: Handler = async (app, context, principal) => {
    const { clickhouse, log } = app
    const { signal, headers } = context.request
    const chartId = readId(headers.get(CHART_ID) ?? undefined)
    const mark = chartId === null ? {} : { mark: markOf(principal.business.id, chartId) }
    const readFor = (caller: { signal?: AbortSignal; mark?: string }) =>
      read(app, context, principal, openReader({ clickhouse, log, ...caller }, limits))
    // Other callers may wait for the shared read, so it continues when this one disconnects.
    const readShared = () => answers(principal.business.id, () => readFor({}))
    try {
      return { message, data: await (isShared ? readShared() : readFor({ signal, ...mark })) }
    } catch (error) {
      if (!(error instanceof QueryFault)) throw error
      throw clickHouseUnavailable(app, error.reason === 'too_much' ? TOO_MUCH : {})
    }
  }
  return {
    method: 'GET',
    path: `/analytics${path}`,
    permission,
    cost: isShared ? 'shared' : 'costly',
    ...(!isShared && !holdsPaths && { isCompressed: true }),
    handler,
    source: { limits, read },
    operation: { ...operation, tag: 'Analytics', replies: { 200: { message, ...reply } } },
    errors: ['invalid_request'],
  }
}

/** Request header with a UUID that a page chooses, to read the progress of its chart. */
const CHART_ID = 'sluice-chart-id'

/**
 * Longer than the longest read (2 s, and the grace period of the reader), so that each business has one such read at a
 * time.
 */
const SHARED = { ms: 6000, max: 500 }

/** The same query would again take as long, so Retry-After is long. */
const TOO_MUCH = {
  reason: faultOf('', 'too_much_to_read'),
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
