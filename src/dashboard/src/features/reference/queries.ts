import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../../client.ts'
import type { Description, Document } from './description.ts'

export const descriptionQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async ({ signal }): Promise<Description> => {
    const response = await fetch('/openapi.json', { signal })
    if (!response.ok) throw new ApiError('internal', response.statusText, { status: response.status })
    const { info, paths, components, 'x-errors': errors } = (await response.json()) as Document
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
    )
    return { info, operations, errors, schemas: components.schemas }
  },
  staleTime: Infinity,
})
