import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'

export type Listed = DataOf<'/dashboard/api/b/{businessId}/custom-fields'>
export type CustomField = Listed['customFields'][number]
export type FieldUse = Listed['use']

export const fieldsQuery = (businessId: string) =>
  queryOptions({
    queryKey: ['custom-fields', businessId],
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/custom-fields', { params: { path: { businessId } }, signal })),
  })
