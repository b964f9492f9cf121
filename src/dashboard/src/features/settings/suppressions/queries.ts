import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'

export type Suppression = DataOf<'/dashboard/api/b/{businessId}/suppressions'>['suppressions'][number]
export type AddressChannel = Suppression['channel']
export type Reason = Suppression['reason']

export const ADDRESS_CHANNELS = ['email', 'sms', 'whatsapp'] as const satisfies readonly AddressChannel[]
export const REASONS = ['hard_bounce', 'complaint', 'stop', 'manual'] as const satisfies readonly Reason[]

export interface SuppressionFilter {
  channel: AddressChannel | undefined
  reason: Reason | undefined
  /** Not in the URL, because addresses are personal data. */
  address: string
}

export const suppressionsQuery = (businessId: string, { channel, reason, address }: SuppressionFilter) =>
  infiniteQueryOptions({
    queryKey: ['suppressions', businessId, channel, reason, address],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: 100,
        ...(channel && { channel }),
        ...(reason && { reason }),
        ...(address !== '' && { address }),
        ...(pageParam && { cursor: pageParam }),
      }
      const params = { path: { businessId }, query }
      return take(api.GET('/dashboard/api/b/{businessId}/suppressions', { params, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    retry: false,
  })
