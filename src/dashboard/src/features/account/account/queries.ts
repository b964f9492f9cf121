import { queryOptions } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'

export const sessionsQuery = queryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: async ({ signal }) => (await take(api.GET('/dashboard/api/me/sessions', { signal }))).sessions,
})
