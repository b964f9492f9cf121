import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import type { DeliverySearch } from './search.ts'

export type Destination = DataOf<'/dashboard/api/b/{businessId}/destinations'>['destinations'][number]
export type Delivery = DataOf<'/dashboard/api/b/{businessId}/deliveries'>['deliveries'][number]

export type Attempt = DataOf<'/dashboard/api/b/{businessId}/deliveries/{deliveryId}/attempts'>['attempts'][number]

export const attemptsQuery = (businessId: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['delivery-attempts', businessId, deliveryId],
    queryFn: ({ signal }) => {
      const params = { path: { businessId, deliveryId } }
      return take(api.GET('/dashboard/api/b/{businessId}/deliveries/{deliveryId}/attempts', { params, signal }))
    },
    refetchInterval: 5000,
  })

export const destinationsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['destinations', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/destinations', { params: { path: { businessId } }, signal })),
  })

const PAGE = 100

export const deliveriesQuery = (businessId: string, { state, destination }: DeliverySearch) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', businessId, state, destination],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/deliveries', {
          params: {
            path: { businessId },
            query: {
              limit: PAGE,
              ...(pageParam && { cursor: pageParam }),
              ...(state && { state }),
              ...(destination && { destinationId: destination }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // With several pages loaded, all of them would be read again. A reader far down the list reloads it instead.
    refetchInterval: ({ state: { data } }) => (data === undefined || data.pages.length === 1 ? 5000 : false),
  })
