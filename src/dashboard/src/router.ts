/** All pages. A page brings its route; its component and its texts are loaded when it is opened. */
import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import type { PagePath } from './page-paths.ts'
import { accountRoute } from './pages/account/route.ts'
import { contactRoute } from './pages/contact/route.ts'
import { contactsRoute } from './pages/contacts/route.ts'
import { customFieldsRoute } from './pages/custom-fields/route.ts'
import { forgotRoute } from './pages/forgot/route.ts'
import { linkRoute } from './pages/link/route.ts'
import { liveRoute } from './pages/live/route.ts'
import { auditRoute, businessSettingsRoute, keysRoute, peopleRoute } from './pages/settings/routes.ts'
import { signInRoute } from './pages/sign-in/route.ts'
import { appRoute, businessRoute, firstRoute } from './routes/app.tsx'
import { Failed, NotFound, rootRoute } from './routes/root.tsx'

const routeTree = rootRoute.addChildren([
  signInRoute,
  forgotRoute,
  linkRoute,
  appRoute.addChildren([
    firstRoute,
    accountRoute,
    businessRoute.addChildren([
      contactsRoute,
      contactRoute,
      liveRoute,
      customFieldsRoute,
      keysRoute,
      businessSettingsRoute,
      peopleRoute,
      auditRoute,
    ]),
  ]),
])

export function buildRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    // The cache of queries decides what is fresh.
    defaultPreloadStaleTime: 0,
    defaultPendingMs: 300,
    defaultErrorComponent: Failed,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof buildRouter>
  }
}

/** The front door serves the paths of PAGE_PATHS alone: a route that is not among them does not compile, and the other way round. */
type Routed = Exclude<keyof ReturnType<typeof buildRouter>['routesByPath'], '' | '/'>
type IsSame<A, B> = [A, B] extends [B, A] ? true : { routed: A; served: B }
const isServed: IsSame<Routed, PagePath> = true
void isServed
