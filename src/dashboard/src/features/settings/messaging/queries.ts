import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'

export type Messaging = DataOf<'/dashboard/api/b/{businessId}/messaging'>['messaging']

export const messagingQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['messaging', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/messaging', { params: { path: { businessId } }, signal })),
  })
