import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import type { DataOf } from '../../data-of.ts'

export type Installation = DataOf<'/dashboard/api/operations/installation'>
export type Store = Installation['stores'][number]
export type Partition = NonNullable<Installation['partitions']>['list'][number]
export type RunningRun = NonNullable<DataOf<'/dashboard/api/operations/verify'>['running']>
export type EndedRun = NonNullable<DataOf<'/dashboard/api/operations/verify'>['last']>
export type DeadLetter = DataOf<'/dashboard/api/operations/dead-letters'>['deadLetters'][number]

export const installationQuery = queryOptions({
  queryKey: ['installation', 'operations'],
  queryFn: ({ signal }) => take(api.GET('/dashboard/api/operations/installation', { signal })),
  refetchInterval: 3000,
})

export const verifyQuery = queryOptions({
  queryKey: ['verify'],
  queryFn: ({ signal }) => take(api.GET('/dashboard/api/operations/verify', { signal })),
  // Another operator may start a comparison.
  refetchInterval: ({ state }) => (state.data?.running == null ? 10_000 : 1000),
})

export const deadLettersQuery = queryOptions({
  queryKey: ['dead-letters'],
  queryFn: ({ signal }) => take(api.GET('/dashboard/api/operations/dead-letters', { signal })),
  refetchInterval: 10_000,
})
