import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'

export type Key = DataOf<'/dashboard/api/b/{businessId}/keys'>['keys'][number]
export type Settings = DataOf<'/dashboard/api/b/{businessId}/business'>
export type Member = DataOf<'/dashboard/api/b/{businessId}/people'>['members'][number]
export type Invitation = DataOf<'/dashboard/api/b/{businessId}/people'>['invitations'][number]
export type AuditEntry = DataOf<'/dashboard/api/b/{businessId}/audit'>['entries'][number]

export const keysQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['keys', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/keys', { params: { path: { businessId } }, signal })),
  })

export const settingsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['settings', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/business', { params: { path: { businessId } }, signal })),
  })

export const peopleQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['people', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/people', { params: { path: { businessId } }, signal })),
  })

/** `businessId` is null for the log of the installation, which operators can read. */
export const auditQuery = (businessId: string | null) =>
  infiniteQueryOptions({
    queryKey: ['audit', businessId],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 100, ...(pageParam && { cursor: pageParam }) }
      if (businessId === null) return take(api.GET('/dashboard/api/operations/audit', { params: { query }, signal }))
      const path = { businessId }
      return take(api.GET('/dashboard/api/b/{businessId}/audit', { params: { path, query }, signal }))
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
