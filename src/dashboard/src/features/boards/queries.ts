import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'

type Base = '/dashboard/api/b/{businessId}/boards'
export type ListedBoard = DataOf<Base>['boards'][number]
export type Board = DataOf<`${Base}/{boardId}`>['board']
export type BoardChart = Board['charts'][number]

export interface BoardPath {
  businessId: string
  boardId: string
}

export const boardsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['boards', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/boards', { params: { path: { businessId } }, signal })),
  })

export const boardQuery = (path: BoardPath) =>
  queryOptions({
    queryKey: ['board', path],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/boards/{boardId}', { params: { path }, signal })),
  })
