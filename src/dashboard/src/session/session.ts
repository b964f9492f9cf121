/** Who is signed in, and what they may do where. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, ApiError, take } from '../client.ts'
import type { DataOf } from '../data-of.ts'

export type Me = DataOf<'/dashboard/api/me'>
export type Business = Me['businesses'][number]
export type Permission = Business['permissions'][number]

export const meQuery = queryOptions({
  queryKey: ['me'],
  /** Null: nobody is signed in. */
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

/** On pages behind the sign-in. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (data == null) throw new Error('This page is shown to people who are signed in.')
  return data
}

/** The business of the path; undefined on pages of no business. */
export function useBusinessOrNone(): Business | undefined {
  // No page of a business may be among the routes: the type then has no such parameter.
  const { businessId } = useParams({ strict: false }) as { businessId?: string }
  return useMe().businesses.find(({ id }) => id === businessId)
}

/** On pages of a business. */
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

/** The one looked at last, else the first. */
export function chooseBusiness({ businesses }: Me): Business | undefined {
  const last = localStorage.getItem(LAST)
  return businesses.find(({ id }) => id === last) ?? businesses[0]
}
