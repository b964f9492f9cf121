/** The routes of all pages. The component and the texts of a page are loaded when it is opened. */
import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { type Page, PAGES } from './pages.ts'
import { NotFound } from './parts/feedback/not-found.tsx'
import { appRoute, businessRoute, firstRoute } from './routes/app.tsx'
import { guestRoute } from './routes/guest.ts'
import { pageRoutes } from './routes/page-routes.ts'
import { Failed, rootRoute } from './routes/root.tsx'

type PublicPage = Extract<Page, { access: 'anyone' }>
type GuestPage = Extract<Page, { access: 'guest' }>
type BusinessPage = Extract<Page, { path: `/dashboard/b/$businessId${string}` }>
type AppPage = Exclude<Page, PublicPage | GuestPage | BusinessPage>

const accessOf = (page: Page) => ('access' in page ? page.access : 'person')
const isPublic = (page: Page): page is PublicPage => accessOf(page) === 'anyone'
const isForGuests = (page: Page): page is GuestPage => accessOf(page) === 'guest'
const isOfBusiness = (page: Page): page is BusinessPage => page.path.startsWith('/dashboard/b/$businessId')
const isOfPerson = (page: Page): page is AppPage => accessOf(page) === 'person' && !isOfBusiness(page)

const routeTree = rootRoute.addChildren({
  ...pageRoutes(rootRoute, PAGES.filter(isPublic)),
  guest: guestRoute.addChildren(pageRoutes(guestRoute, PAGES.filter(isForGuests))),
  app: appRoute.addChildren({
    first: firstRoute,
    ...pageRoutes(appRoute, PAGES.filter(isOfPerson)),
    business: businessRoute.addChildren(pageRoutes(businessRoute, PAGES.filter(isOfBusiness))),
  }),
})

export function buildRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    // Always preload: the query cache decides what is fresh.
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
