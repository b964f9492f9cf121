import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { paths } from '../../api.d.ts'

type Detail =
  paths['/dashboard/api/b/{businessId}/contacts/{contactId}']['get']['responses']['200']['content']['application/json']
export type Contact = Detail['data']['contact']

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

export const timelineQuery = (path: ContactPath) =>
  infiniteQueryOptions({
    queryKey: ['contact', path, 'timeline'],
    queryFn: ({ pageParam, signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/contacts/{contactId}/timeline', {
          params: { path, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
