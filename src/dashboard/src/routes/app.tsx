/** The pages behind the sign-in, including those of a business. */
import { createRoute, notFound, redirect } from '@tanstack/react-router'
import { firstTarget } from '../navigation.ts'
import { chooseBusiness, meQuery } from '../session/session.ts'
import { Shell } from '../shell/shell.tsx'
import { rootRoute } from './root.tsx'

export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: async ({ context, location }) => {
    const me = await context.queryClient.ensureQueryData(meQuery)
    if (me === null) throw redirect({ to: '/dashboard/sign-in', search: { to: location.href } })
    return { me }
  },
  component: Shell,
})

/** Parent of every page whose path begins with `/dashboard/b/$businessId`. */
export const businessRoute = createRoute({
  getParentRoute: () => appRoute,
  id: 'business',
  beforeLoad: ({ context, params }) => {
    const { businessId } = params as { businessId?: string }
    const business = context.me.businesses.find(({ id }) => id === businessId)
    // The answer is the same for a business of other people as for one that does not exist.
    if (business === undefined) throw notFound()
    return { business }
  },
})

/** `/dashboard`: redirects to the first page that the person may see. */
export const firstRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/dashboard',
  beforeLoad: ({ context: { me } }) => {
    const business = chooseBusiness(me)
    throw redirect({ ...firstTarget(me, business), replace: true })
  },
})
