/** All pages. Each page supplies its route; its component and texts are loaded when it is opened. */
import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import type { PagePath } from './page-paths.ts'
import { accountRoute } from './pages/account/route.ts'
import {
  attributionRoute,
  audienceRoute,
  engagementRoute,
  eventsRoute,
  funnelRoute,
  lifecycleRoute,
  retentionRoute,
  revenueRoute,
  stagesRoute,
  webRoute,
} from './pages/analytics/routes.ts'
import { boardRoute, boardsRoute } from './pages/boards/route.ts'
import { editCampaignRoute, newCampaignRoute } from './pages/campaign-editor/route.ts'
import { campaignRoute } from './pages/campaign/route.ts'
import { campaignsRoute } from './pages/campaigns/route.ts'
import { contactRoute } from './pages/contact/route.ts'
import { contactsRoute } from './pages/contacts/route.ts'
import { customFieldsRoute } from './pages/custom-fields/route.ts'
import { deliveriesRoute } from './pages/deliveries/route.ts'
import { forgotRoute } from './pages/forgot/route.ts'
import { homeRoute } from './pages/home/route.ts'
import { importsRoute } from './pages/imports/route.ts'
import { linkRoute } from './pages/link/route.ts'
import { liveRoute } from './pages/live/route.ts'
import { operationsRoute } from './pages/operations/route.ts'
import { referenceRoute } from './pages/reference/route.ts'
import { editSegmentRoute, newSegmentRoute } from './pages/segment-editor/route.ts'
import { segmentRoute } from './pages/segment/route.ts'
import { segmentsRoute } from './pages/segments/route.ts'
import {
  auditRoute,
  businessSettingsRoute,
  channelsRoute,
  keysRoute,
  messagingRoute,
  peopleRoute,
  suppressionsRoute,
} from './pages/settings/routes.ts'
import { signInRoute } from './pages/sign-in/route.ts'
import { sqlRoute } from './pages/sql/route.ts'
import { newTemplateRoute, templateRoute, templatesRoute } from './pages/templates/route.ts'
import { appRoute, businessRoute, firstRoute } from './routes/app.tsx'
import { Failed, NotFound, rootRoute } from './routes/root.tsx'

const routeTree = rootRoute.addChildren([
  signInRoute,
  forgotRoute,
  linkRoute,
  referenceRoute,
  appRoute.addChildren([
    firstRoute,
    accountRoute,
    operationsRoute,
    businessRoute.addChildren([
      homeRoute,
      contactsRoute,
      contactRoute,
      segmentsRoute,
      newSegmentRoute,
      segmentRoute,
      editSegmentRoute,
      campaignsRoute,
      newCampaignRoute,
      campaignRoute,
      editCampaignRoute,
      eventsRoute,
      funnelRoute,
      retentionRoute,
      revenueRoute,
      attributionRoute,
      boardsRoute,
      boardRoute,
      lifecycleRoute,
      stagesRoute,
      webRoute,
      engagementRoute,
      audienceRoute,
      sqlRoute,
      templatesRoute,
      newTemplateRoute,
      templateRoute,
      liveRoute,
      customFieldsRoute,
      deliveriesRoute,
      importsRoute,
      keysRoute,
      businessSettingsRoute,
      channelsRoute,
      messagingRoute,
      suppressionsRoute,
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

/** Compiles only when the routes and PAGE_PATHS, the paths that the front door serves, are the same. */
type Routed = Exclude<keyof ReturnType<typeof buildRouter>['routesByPath'], '' | '/'>
type IsSame<A, B> = [A, B] extends [B, A] ? true : { routed: A; served: B }
const isServed: IsSame<Routed, PagePath> = true
void isServed
