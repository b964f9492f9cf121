import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { paths } from '../../api.d.ts'

type Data<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': { data: infer D } } } } }
}
  ? D
  : never

export type Key = Data<'/dashboard/api/b/{businessId}/keys'>['keys'][number]
export type Settings = Data<'/dashboard/api/b/{businessId}/business'>
export type Member = Data<'/dashboard/api/b/{businessId}/people'>['members'][number]
export type Invitation = Data<'/dashboard/api/b/{businessId}/people'>['invitations'][number]
export type AuditEntry = Data<'/dashboard/api/b/{businessId}/audit'>['entries'][number]

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

/** `businessId`: null for the installation, which operators read. */
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
