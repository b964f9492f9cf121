/**
 * Reads the data of a chart from the endpoint that its page uses. Only two charts are read at a time, because each read
 * is costly.
 */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError, api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { type Days, rangeOf, retryWhenBusy } from '../../analytics/links.ts'
import type { BoardChart } from '../queries.ts'
import { type Result, savedQueriesQuery } from '../../data/links.ts'

type Base = '/dashboard/api/b/{businessId}/analytics'

const PATHS = {
  series: 'series',
  funnel: 'funnel',
  retention: 'retention',
  lifecycle: 'lifecycle',
  stages: 'stages',
  revenue: 'revenue',
  cohorts: 'revenue/cohorts',
  attribution: 'attribution',
  web: 'web',
  pages: 'web/pages',
  sources: 'web/sources',
  engagement: 'engagement',
} as const
type Read = keyof typeof PATHS

/** Data by the kind of the chart. */
export type ChartData = { [Kind in Read]: DataOf<`${Base}/${(typeof PATHS)[Kind]}`> } & { sql: Result }

/** A chart whose query the person may see. */
export type ShownChart = BoardChart & { query: Record<string, string> }

const AT_ONCE = 2
const waiting: (() => void)[] = []
let running = 0

async function inTurn<Data>(read: () => Promise<Data>, signal: AbortSignal): Promise<Data> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    // The page may have been closed while this read waited.
    signal.throwIfAborted()
    return await read()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

interface Place {
  client: QueryClient
  businessId: string
  timezone: string
}

/** The data is read again each time the board is opened. */
export const chartQuery = ({ client, businessId, timezone }: Place, chart: ShownChart) => {
  const asked = parametersOf(chart, timezone)
  return queryOptions({
    queryKey: ['board-chart', businessId, chart.kind, asked],
    queryFn: ({ signal }) =>
      inTurn<unknown>(
        () =>
          chart.kind === 'sql'
            ? runSaved(client, businessId, asked['queryId'], signal)
            : readEndpoint(businessId, PATHS[chart.kind], asked, signal),
        signal,
      ) as Promise<ChartData[keyof ChartData]>,
    staleTime: 0,
    refetchOnWindowFocus: false,
    // The charts of the board make each other wait.
    retry: retryWhenBusy(5),
  })
}

function parametersOf({ query, days }: ShownChart, timezone: string): Record<string, string> {
  return days === null ? query : { ...query, from: rangeOf({ days: days as Days }, timezone).from }
}

const readEndpoint = (
  businessId: string,
  path: (typeof PATHS)[Read],
  query: Record<string, string>,
  signal: AbortSignal,
) =>
  take(
    // The parameters were checked when the chart was saved.
    api.GET(`/dashboard/api/b/{businessId}/analytics/${path}` as `${Base}/series`, {
      params: { path: { businessId }, query },
      signal,
    }),
  )

async function runSaved(client: QueryClient, businessId: string, id: string | undefined, signal: AbortSignal) {
  const { queries } = await client.fetchQuery(savedQueriesQuery(businessId))
  const saved = queries.find((one) => one.id === id)
  if (saved === undefined) throw new ApiError('not_found', 'The saved query is gone.', { status: 404 })
  const { statement, parameters } = saved
  const params = { path: { businessId } }
  return take(api.POST('/dashboard/api/b/{businessId}/sql', { params, body: { statement, parameters }, signal }))
}
