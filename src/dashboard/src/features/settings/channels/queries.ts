import type { MessageChannel } from '../../rules/channels.ts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'

export type LoggedMessage = DataOf<'/dashboard/api/b/{businessId}/channels/{channel}/log'>['messages'][number]

export const channelsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['channels', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/channels', { params: { path: { businessId } }, signal })),
  })

export const logQuery = (businessId: string, channel: MessageChannel) =>
  infiniteQueryOptions({
    queryKey: ['channel-log', businessId, channel],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 100, ...(pageParam && { cursor: pageParam }) }
      const params = { path: { businessId, channel }, query }
      return take(api.GET('/dashboard/api/b/{businessId}/channels/{channel}/log', { params, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
