import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'

export type Result = DataOf<'/dashboard/api/b/{businessId}/sql', 'post'>
export type Schema = DataOf<'/dashboard/api/b/{businessId}/sql/schema'>
export type SavedQuery = DataOf<'/dashboard/api/b/{businessId}/sql/queries'>['queries'][number]

export const schemaQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['sql-schema', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/sql/schema', { params: { path: { businessId } }, signal })),
    staleTime: Infinity,
  })

export const savedQueriesQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['sql-queries', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/sql/queries', { params: { path: { businessId } }, signal })),
  })
