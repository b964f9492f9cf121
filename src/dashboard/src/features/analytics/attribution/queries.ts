import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { type QueryOf, common } from '../queries.ts'

const PATH = '/dashboard/api/b/{businessId}/analytics/attribution'
export type Attribution = DataOf<typeof PATH>
export type AttributionQuery = QueryOf<typeof PATH>
export type SpendFile = DataOf<'/dashboard/api/b/{businessId}/analytics/spend/file', 'post'>

export const attributionKey = (businessId: string) => ['analytics', businessId, 'attribution'] as const

/** `query` is null when there is nothing to request. */
export const attributionQuery = (businessId: string, query: AttributionQuery | null) =>
  queryOptions({
    ...common,
    queryKey: [...attributionKey(businessId), query],
    queryFn: ({ signal }) => take(api.GET(PATH, { params: { path: { businessId }, query: query ?? {} }, signal })),
    enabled: query !== null,
  })
