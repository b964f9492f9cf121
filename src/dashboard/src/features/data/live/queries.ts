import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { Filter } from './search.ts'

interface Span {
  after?: number
  before?: number | null
}

export async function fetchRequests(businessId: string, filter: Filter, { after, before }: Span, signal: AbortSignal) {
  const query = {
    ...filter,
    ...(after !== undefined && { after: String(after) }),
    ...(before != null && { before: String(before) }),
  }
  return take(api.GET('/dashboard/api/b/{businessId}/requests', { params: { path: { businessId }, query }, signal }))
}

const MAX_PAGES = 10

/** Fetches all requests after `after`. They may not fit into one answer. */
export async function fetchNewer(businessId: string, filter: Filter, after: number, signal: AbortSignal) {
  const first = await fetchRequests(businessId, filter, { after }, signal)
  const requests = [...first.requests]
  let { omitted, oldest } = first
  for (let page = 1; page < MAX_PAGES && oldest !== null; page++) {
    const next = await fetchRequests(businessId, filter, { after, before: oldest }, signal)
    requests.push(...next.requests)
    omitted += next.omitted
    oldest = next.oldest
  }
  return { requests, omitted, newest: first.newest }
}

export const requestQuery = (businessId: string, requestId: string) =>
  queryOptions({
    queryKey: ['b', businessId, 'requests', requestId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/requests/{requestId}', {
          params: { path: { businessId, requestId } },
          signal,
        }),
      ),
    staleTime: Infinity,
  })
