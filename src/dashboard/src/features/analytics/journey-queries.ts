/** Lifecycle, stages and engagement of contacts. */
import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import { withNames } from '../contacts/links.ts'
import { type QueryOf, common } from './queries.ts'

type Base = '/dashboard/api/b/{businessId}/analytics'
export type Lifecycle = DataOf<`${Base}/lifecycle`>
export type Stages = DataOf<`${Base}/stages`>
export type Engagement = DataOf<`${Base}/engagement`>
export type Mover = DataOf<`${Base}/engagement/movers`>['risen'][number] & { name: string | undefined }
export type LifecycleQuery = QueryOf<`${Base}/lifecycle`>
export type StagesQuery = QueryOf<`${Base}/stages`>

export const lifecycleQuery = (businessId: string, query: LifecycleQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'lifecycle', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/lifecycle', {
          params: { path: { businessId }, query },
          signal,
        }),
      ),
  })

export const stagesQuery = (businessId: string, query: StagesQuery) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'stages', query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/stages', { params: { path: { businessId }, query }, signal }),
      ),
  })

export const engagementQuery = (businessId: string) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'engagement'],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/analytics/engagement', { params: { path: { businessId } }, signal })),
  })

/** Most contacts in each list. */
const MOVERS = 10

/** Requires permission to see contacts. */
export const moversQuery = (businessId: string) =>
  queryOptions({
    ...common,
    queryKey: ['analytics', businessId, 'engagement', 'movers'],
    queryFn: async ({ signal }) => {
      const params = { path: { businessId }, query: { top: MOVERS } }
      const found = await take(api.GET('/dashboard/api/b/{businessId}/analytics/engagement/movers', { params, signal }))
      const [risen, fallen] = await Promise.all(
        [found.risen, found.fallen].map((those) => withNames(businessId, those, true, signal)),
      )
      return { risen: risen ?? [], fallen: fallen ?? [] }
    },
  })
