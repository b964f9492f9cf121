/** Who is signed in, and their permissions in each business. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, ApiError, take } from '../client.ts'
import type { DataOf } from '../data-of.ts'
import type { Permission } from './permission.ts'

export type Me = DataOf<'/dashboard/api/me'>
export type Business = Me['businesses'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  /** Resolves with null when nobody is signed in. */
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await take(api.GET('/dashboard/api/me', { signal }))
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_signed_in') return null
      throw error
    }
  },
  staleTime: 60_000,
})

/** For pages behind the sign-in. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (data == null) throw new Error('This page is shown to people who are signed in.')
  return data
}

/** Returns what the reader can do about a setting that is missing: operators can make it themselves. */
export const useRemedy = ({ operator, member }: { operator: string; member: string }): string =>
  useMe().user.isOperator ? operator : member

/** Returns the business in the path; undefined on pages outside a business. */
export function useBusinessOrNone(): Business | undefined {
  // The cast is needed where no route with a business is registered: the type then lacks the parameter.
  const { businessId } = useParams({ strict: false }) as { businessId?: string }
  return useMe().businesses.find(({ id }) => id === businessId)
}

/** For pages of a business. */
export function useBusiness(): Business {
  const business = useBusinessOrNone()
  if (business === undefined) throw new Error('This page belongs to a business.')
  return business
}

export function useCan(permission: Permission): boolean {
  return useBusinessOrNone()?.permissions.includes(permission) ?? false
}

const LAST = 'sluice.business'

export const rememberBusiness = (id: string): void => localStorage.setItem(LAST, id)

/** Returns the business that was opened last, or else the first. */
export function chooseBusiness({ businesses }: Me): Business | undefined {
  const last = localStorage.getItem(LAST)
  return businesses.find(({ id }) => id === last) ?? businesses[0]
}
