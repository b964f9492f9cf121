import { createRoute, redirect } from '@tanstack/react-router'
import { readSignIn } from '../features/account/sign-in/search.ts'
import { safeReturnPath } from '../session/return-path.ts'
import { meQuery } from '../session/session.ts'
import { rootRoute } from './root.tsx'

/** The pages for people who are not signed in. Those who are get to where they wanted to go. */
export const guestRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'guest',
  validateSearch: readSignIn,
  beforeLoad: async ({ context, search }) => {
    const me = await context.queryClient.ensureQueryData(meQuery)
    if (me !== null) throw redirect({ href: safeReturnPath(search.to, location.origin), replace: true })
  },
})
