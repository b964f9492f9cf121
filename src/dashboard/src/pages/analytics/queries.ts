import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ApiError, api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import type { paths } from '../../api.d.ts'

type Base = '/dashboard/api/b/{businessId}/analytics'
export type Series = DataOf<`${Base}/series`>

type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } }
}
  ? NonNullable<Query>
  : never
export type SeriesQuery = QueryOf<`${Base}/series`>

/** Charts are costly: what was read a minute ago is shown again. */
const FRESH_MS = 60_000
const RETRIES = 3
const common = {
  staleTime: FRESH_MS,
  placeholderData: keepPreviousData,
  // What took too long takes as long again. Only those who had to wait for others try again.
  retry: (failures: number, error: Error) => failures < RETRIES && error instanceof ApiError && error.status === 429,
} as const

/** Null: not all is chosen yet. */
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
