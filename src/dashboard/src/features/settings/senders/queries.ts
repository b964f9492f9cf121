import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'

export type Sender = DataOf<'/dashboard/api/b/{businessId}/senders'>['senders'][number]
export type SenderReport = DataOf<'/dashboard/api/b/{businessId}/senders/{sender}/report'>

/** More than a business can have. */
const ALL = 500

export const sendersQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['senders', businessId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/senders', {
          params: { path: { businessId }, query: { limit: ALL } },
          signal,
        }),
      ),
  })

/** How calls name a sender. */
export const paramsOf = (businessId: string, { key, channel }: Pick<Sender, 'key' | 'channel'>) => ({
  path: { businessId, sender: key },
  query: { channel },
})

export const reportQuery = (businessId: string, sender: Pick<Sender, 'key' | 'channel'>) =>
  queryOptions({
    queryKey: ['sender-report', businessId, sender.channel, sender.key],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/senders/{sender}/report', {
          params: paramsOf(businessId, sender),
          signal,
        }),
      ),
  })
