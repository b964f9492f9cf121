import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import type { ContactSearch } from './search.ts'

export type ListedContact = DataOf<'/dashboard/api/b/{businessId}/contacts'>['contacts'][number]

export const contactsQuery = (businessId: string, filter: ContactSearch) =>
  infiniteQueryOptions({
    queryKey: ['contacts', businessId, filter],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/contacts', {
          params: { path: { businessId }, query: { ...filter, limit: 100, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })

export const countQuery = (businessId: string, filter: ContactSearch) =>
  queryOptions({
    queryKey: ['contacts', businessId, 'count', filter],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/contacts/count', {
          params: { path: { businessId }, query: { ...filter } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const filtersQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['contact-filters', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/contact-filters', { params: { path: { businessId } }, signal })),
  })
export type SavedView = DataOf<'/dashboard/api/b/{businessId}/contact-filters'>['views'][number]
