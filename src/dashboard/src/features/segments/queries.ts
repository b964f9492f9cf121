import { infiniteQueryOptions, keepPreviousData, queryOptions, skipToken } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'
import { COMPUTING_MS, type ListedSegment } from '../rules/queries.ts'
import { withNames } from '../contacts/links.ts'
import type { RuleBody } from '../rules/tree.ts'

export type Segment = DataOf<'/dashboard/api/b/{businessId}/segments/{segmentId}'>['segment']
export type HistoryDay = DataOf<'/dashboard/api/b/{businessId}/segments/{segmentId}/history'>['days'][number]
export type Member = DataOf<'/dashboard/api/b/{businessId}/segments/{segmentId}/members'>['members'][number]
export type Change = DataOf<'/dashboard/api/b/{businessId}/segments/{segmentId}/changes'>['changes'][number]

export interface SegmentPath {
  businessId: string
  segmentId: string
}

const HISTORY_MS = 60_000

export const segmentQuery = (path: SegmentPath) =>
  queryOptions({
    queryKey: ['segment', path],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/segments/{segmentId}', { params: { path }, signal })),
    refetchInterval: ({ state }) => (state.data?.segment.status === 'computing' ? COMPUTING_MS : false),
  })

/** `from` is a UTC day. */
export const historyQuery = (path: SegmentPath, from?: string) =>
  queryOptions({
    queryKey: ['segment', path, 'history', from],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/segments/{segmentId}/history', {
          params: { path, query: { ...(from !== undefined && { from }) } },
          signal,
        }),
      ),
    staleTime: HISTORY_MS,
    placeholderData: keepPreviousData,
  })

/** Includes names for people who may see them. */
export const membersQuery = (path: SegmentPath, canSee: boolean) =>
  infiniteQueryOptions({
    queryKey: ['segment', path, 'members', canSee],
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) }
      const params = { path, query }
      const page = await take(api.GET('/dashboard/api/b/{businessId}/segments/{segmentId}/members', { params, signal }))
      return { rows: await withNames(path.businessId, page.members, canSee, signal), nextCursor: page.nextCursor }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const changesQuery = (path: SegmentPath, canSee: boolean) =>
  infiniteQueryOptions({
    queryKey: ['segment', path, 'changes', canSee],
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) }
      const params = { path, query }
      const page = await take(api.GET('/dashboard/api/b/{businessId}/segments/{segmentId}/changes', { params, signal }))
      return { rows: await withNames(path.businessId, page.changes, canSee, signal), nextCursor: page.nextCursor }
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

const PAGE_SIZE = 100

export const explainQuery = (path: SegmentPath, contactId: string) =>
  queryOptions({
    queryKey: ['segment', path, 'explain', contactId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/segments/{segmentId}/explain', {
          params: { path, query: { contactId } },
          signal,
        }),
      ),
  })

export const SAMPLE = 5

/** `rule` is part of the key: when it changes, the request for the previous rule is cancelled. */
export const previewQuery = (businessId: string, rule: RuleBody | null) =>
  queryOptions({
    queryKey: ['segment-preview', businessId, rule],
    queryFn: rule === null ? skipToken : ({ signal }) => preview(businessId, rule, signal),
    retry: false,
    placeholderData: keepPreviousData,
  })

async function preview(businessId: string, rule: RuleBody, signal: AbortSignal) {
  const began = performance.now()
  const counted = await take(
    api.POST('/dashboard/api/b/{businessId}/segments/preview', {
      params: { path: { businessId } },
      body: { rule, sample: SAMPLE },
      signal,
    }),
  )
  return { ...counted, ms: performance.now() - began }
}

/** True while a segment has no members because they are still being computed: it is not known yet whether there are any. */
export const isAwaited = ({ status, memberCount }: Pick<ListedSegment, 'status' | 'memberCount'>): boolean =>
  status === 'computing' && memberCount === 0
