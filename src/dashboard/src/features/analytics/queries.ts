import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ApiError, api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import type { paths } from '../../api.d.ts'
import { textsOf } from '../../texts/index.ts'
import { withNames } from '../contacts/links.ts'

type Base = '/dashboard/api/b/{businessId}/analytics'
export type Series = DataOf<`${Base}/series`>
export type Retention = DataOf<`${Base}/retention`>
export type Revenue = DataOf<`${Base}/revenue`>
export type RevenueCohorts = DataOf<`${Base}/revenue/cohorts`>
export type Funnel = DataOf<`${Base}/funnel`>
export type DroppedContact = DataOf<`${Base}/funnel/contacts`>['contacts'][number] & { name: string | undefined }

/** Query parameters of a path. */
export type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } | { query: infer Query } }
}
  ? NonNullable<Query>
  : never
export type SeriesQuery = QueryOf<`${Base}/series`>
export type RetentionQuery = QueryOf<`${Base}/retention`>
export type RevenueQuery = QueryOf<`${Base}/revenue`>
export type CohortsQuery = QueryOf<`${Base}/revenue/cohorts`>
export type FunnelQuery = QueryOf<`${Base}/funnel`>

/** Charts are costly, so data read within the last minute is shown again. */
const FRESH_MS = 60_000
/** Whether the chart itself takes too much. Otherwise ClickHouse does not answer, or answers everything too late. */
const isTooMuch = (error: Error): boolean => error instanceof ApiError && error.reason === 'too_much_to_read'

/** Returns the text for a failed chart; undefined when the general text of the error suffices. */
export function chartErrorText(error: Error): string | undefined {
  const texts = textsOf('analytics')
  if (isTooMuch(error)) return texts.tooMuch
  return error instanceof ApiError && error.code === 'rate_limited' ? texts.busy : undefined
}

/** A chart that took too long would take as long again. Retry only when the server was busy with other charts. */
export const retryWhenBusy = (times: number) => (failures: number, error: Error) =>
  failures < times && error instanceof ApiError && error.status === 429

/** Options of chart queries. */
export const common = {
  staleTime: FRESH_MS,
  placeholderData: keepPreviousData,
  // A cancelled chart is computed only when the person requests it.
  refetchOnWindowFocus: ({ state }: { state: { data: unknown } }) => state.data !== undefined,
  retry: retryWhenBusy(3),
} as const

/** `query` is null while a choice is missing. */
export const seriesQuery = (businessId: string, query: SeriesQuery | null) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'series', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/series', {
          params: { path: { businessId }, query: query ?? {} },
          signal,
        }),
      ),
    enabled: query !== null,
  })

export const funnelQuery = (businessId: string, query: FunnelQuery | null) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'funnel', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/funnel', {
          params: { path: { businessId }, query: query ?? { steps: '[]' } },
          signal,
        }),
      ),
    enabled: query !== null,
  })

const PAGE_SIZE = 100

/** Requires permission to see contacts. */
export const droppedQuery = (businessId: string, asked: FunnelQuery & { step: number }) =>
  infiniteQueryOptions({
    queryKey: ['analytics', businessId, 'funnel', 'dropped', asked],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...asked, outcome: 'dropped' as const, limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) }
      const params = { path: { businessId }, query }
      const page = await take(api.GET('/dashboard/api/b/{businessId}/analytics/funnel/contacts', { params, signal }))
      return { rows: await withNames(businessId, page.contacts, true, signal), nextCursor: page.nextCursor }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    retry: common.retry,
  })

export const retentionQuery = (businessId: string, query: RetentionQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'retention', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/retention', {
          params: { path: { businessId }, query },
          signal,
        }),
      ),
  })

export const revenueQuery = (businessId: string, query: RevenueQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'revenue', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/revenue', { params: { path: { businessId }, query }, signal }),
      ),
  })

export const cohortsQuery = (businessId: string, query: CohortsQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'revenue', 'cohorts', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/revenue/cohorts', {
          params: { path: { businessId }, query },
          signal,
        }),
      ),
  })
