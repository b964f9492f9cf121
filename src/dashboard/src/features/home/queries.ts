import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'

export type Status = DataOf<'/dashboard/api/b/{businessId}/status'>
export type Day = DataOf<'/dashboard/api/b/{businessId}/days'>['days'][number]

export const statusQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['status', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/status', { params: { path: { businessId } }, signal })),
    refetchInterval: 5000,
  })

export const daysQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['days', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/days', { params: { path: { businessId } }, signal })),
    refetchInterval: 15_000,
  })
