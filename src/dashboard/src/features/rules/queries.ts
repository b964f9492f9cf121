/** What rules are made of: the fields and the segments of a business. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'

export type ListedSegment = DataOf<'/dashboard/api/b/{businessId}/segments'>['segments'][number]
export type Explanation = DataOf<'/dashboard/api/b/{businessId}/segments/{segmentId}/explain'>
export type FieldGroup = DataOf<'/dashboard/api/b/{businessId}/segment-fields'>['groups'][number]
export type Field = FieldGroup['fields'][number]

/** Interval of requests, in ms, while the members of a segment are computed. */
export const COMPUTING_MS = 1500

export const segmentsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['segments', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/segments', { params: { path: { businessId } }, signal })),
    refetchInterval: ({ state }) =>
      state.data?.segments.some(({ status }) => status === 'computing') ? COMPUTING_MS : false,
  })

export const fieldsQuery = (businessId: string, query: string) =>
  queryOptions({
    queryKey: ['segment-fields', businessId, query],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/segment-fields', {
          params: { path: { businessId }, query: { ...(query !== '' && { query }) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

export const fieldValuesQuery = (businessId: string, key: string) =>
  queryOptions({
    queryKey: ['custom-fields', businessId, 'values', key],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/custom-fields/values', {
          params: { path: { businessId }, query: { key } },
          signal,
        }),
      ),
  })
