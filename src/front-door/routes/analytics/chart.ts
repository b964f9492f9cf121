/** Common parts of all chart endpoints. */
import type { Static, TSchema } from '@sinclair/typebox'
import { markOf } from '../../../analytics/chart-progress.ts'
import type { Chart } from '../../../analytics/charts/chart.ts'
import { type Parameters, MAX_BUCKETS, checkParameters } from '../../../analytics/charts/parameters.ts'
import { QueryFault, openReader } from '../../../analytics/read-rows.ts'
import { createTtlCache } from '../../../async/ttl-cache.ts'
import { faultOf } from '../../../rules/faults.ts'
import { readId } from '../../../rules/read-id.ts'
import { RequestError } from '../../../errors.ts'
import type { Handler, Principal } from '../../access/principal.ts'
import type { RequestContext } from '../../app-context.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { queryOf } from '../../http/read-page.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'

interface ChartEndpoint<Data extends TSchema> extends Pick<BusinessEndpoint, 'path'> {
  /** Message of the answer. */
  message: string
  permission?: BusinessEndpoint['permission']
  /** For endpoints without parameters that pages request repeatedly: all callers of a business share an answer. */
  isShared?: true
  /**
   * The answer contains addresses of the business's pages, which may contain tokens of its own. So it is not
   * compressed.
   */
  holdsPaths?: true
  chart: (parameters: Parameters, context: RequestContext) => ReturnType<Chart<Static<Data> & object>>
  operation: Omit<BusinessEndpoint['operation'], 'tag' | 'replies'>
  reply: Omit<BusinessEndpoint['operation']['replies'][number], 'message' | 'data'> & { data: Data }
}

export function chartEndpoint<Data extends TSchema>({
  path,
  message,
  permission = 'lists:read',
  isShared,
  holdsPaths,
  chart,
  operation,
  reply,
}: ChartEndpoint<Data>): BusinessEndpoint {
  const answers = createTtlCache<object>(SHARED)
  const handler: Handler = async (app, context, principal) => {
    const { sql, clickhouse, log } = app
    const { signal, headers } = context.request
    const chartId = readId(headers.get(CHART_ID) ?? undefined)
    const mark = chartId === null ? {} : { mark: markOf(principal.business.id, chartId) }
    const compute = requireParameters(context, principal, (parameters) => chart(parameters, context))
    const computeFor = (caller: { signal?: AbortSignal; mark?: string }) =>
      compute({ sql, openReader: (limits) => openReader({ clickhouse, log, ...caller }, limits) })
    // Other callers may wait for the shared answer, so it continues when this one disconnects.
    const computeShared = () => answers(principal.business.id, () => computeFor({}))
    try {
      return { message, data: await (isShared ? computeShared() : computeFor({ signal, ...mark })) }
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
    operation: { ...operation, tag: 'Analytics', replies: { 200: { message, ...reply } } },
    errors: ['invalid_request'],
  }
}

/**
 * Throws RequestError: `invalid_request` when `read` noted faults, `not_permitted` for values of people that the caller
 * must not see.
 */
function requireParameters<Query>(
  context: RequestContext,
  { business, can }: Principal,
  read: (parameters: Parameters) => Query | undefined,
): Query {
  const checked = checkParameters({ query: queryOf(context), now: context.receivedAt, business }, read)
  if ('faults' in checked) throw invalidRequest(checked.faults)
  if (checked.showsValues && !can('contacts:read')) throw new RequestError('not_permitted')
  return checked.query
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

export const COMPARE_PARAMETER = {
  compare: { schema: { enum: ['true', 'false'], default: 'false' }, description: 'Also read the period before.' },
}
