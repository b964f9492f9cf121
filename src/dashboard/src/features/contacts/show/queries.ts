import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import type { TimelineSearch } from '../search.ts'

export type Detail = DataOf<'/dashboard/api/b/{businessId}/contacts/{contactId}'>
export type Contact = Detail['contact']
export type TimelineEvent = DataOf<'/dashboard/api/b/{businessId}/contacts/{contactId}/timeline'>['events'][number]
export type Visit = DataOf<'/dashboard/api/b/{businessId}/contacts/{contactId}/visits'>['visits'][number]

export interface ContactPath {
  businessId: string
  contactId: string
}

export const contactQuery = (path: ContactPath) =>
  queryOptions({
    queryKey: ['contact', path],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/contacts/{contactId}', { params: { path }, signal })),
  })

export const timelineQuery = (path: ContactPath, type: TimelineSearch['type']) =>
  infiniteQueryOptions({
    queryKey: ['contact', path, 'timeline', type],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/contacts/{contactId}/timeline', {
          params: { path, query: { limit: 50, ...(type && { type }), ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const visitsQuery = (path: ContactPath) =>
  infiniteQueryOptions({
    queryKey: ['contact', path, 'visits'],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/contacts/{contactId}/visits', {
          params: { path, query: { limit: 10, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
