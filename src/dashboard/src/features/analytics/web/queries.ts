import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { type QueryOf, common } from '../queries.ts'

type Base = '/dashboard/api/b/{businessId}/analytics/web'
export type Traffic = DataOf<Base>
export type WebPageRow = DataOf<`${Base}/pages`>['pages'][number]
export type WebSource = DataOf<`${Base}/sources`>['sources'][number]
export type TrafficQuery = QueryOf<Base>
export type PagesQuery = QueryOf<`${Base}/pages`>
export type SourcesQuery = QueryOf<`${Base}/sources`>

const LIVE_MS = 5000

export const trafficQuery = (businessId: string, query: TrafficQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'web', query],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/analytics/web', { params: { path: { businessId }, query }, signal })),
  })

export const pagesQuery = (businessId: string, query: PagesQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'web', 'pages', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/web/pages', {
          params: { path: { businessId }, query },
          signal,
        }),
      ),
  })

export const sourcesQuery = (businessId: string, query: SourcesQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'web', 'sources', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/web/sources', {
          params: { path: { businessId }, query },
          signal,
        }),
      ),
  })

export const liveQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['analytics', businessId, 'web', 'live'],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/analytics/web/live', { params: { path: { businessId } }, signal })),
    refetchInterval: LIVE_MS,
  })
