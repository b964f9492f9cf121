import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { rootRoute } from '../../../routes/root.tsx'
import { safeReturnPath } from '../../../session/return-path.ts'
import { meQuery } from '../../../session/session.ts'
import { loadTexts } from '../../../texts/index.ts'

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dashboard/sign-in',
  validateSearch: ({ to }): { to?: string } => (typeof to === 'string' ? { to } : {}),
  beforeLoad: async ({ context, search }) => {
    const me = await context.queryClient.ensureQueryData(meQuery)
    if (me !== null) throw redirect({ href: safeReturnPath(search.to, location.origin), replace: true })
  },
  loader: () => loadTexts('sign-in'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SignInPage'),
})
