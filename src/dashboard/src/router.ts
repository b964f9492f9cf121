/** All pages. Each page supplies its route; its component and texts are loaded when it is opened. */
import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import type { PagePath } from './page-paths.ts'
import { accountRoute } from './features/account/account/route.ts'
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
} from './features/analytics/routes.ts'
import { boardRoute, boardsRoute } from './features/boards/route.ts'
import { editCampaignRoute, newCampaignRoute } from './features/campaigns/edit/route.ts'
import { campaignRoute } from './features/campaigns/show/route.ts'
import { campaignsRoute } from './features/campaigns/list/route.ts'
import { contactRoute } from './features/contacts/show/route.ts'
import { contactsRoute } from './features/contacts/list/route.ts'
import { customFieldsRoute } from './features/data/custom-fields/route.ts'
import { deliveriesRoute } from './features/deliveries/route.ts'
import { forgotRoute } from './features/account/forgot/route.ts'
import { homeRoute } from './features/home/route.ts'
import { importsRoute } from './features/data/imports/route.ts'
import { linkRoute } from './features/account/link/route.ts'
import { liveRoute } from './features/data/live/route.ts'
import { operationsRoute } from './features/operations/route.ts'
import { referenceRoute } from './features/reference/route.ts'
import { editSegmentRoute, newSegmentRoute } from './features/segments/edit/route.ts'
import { segmentRoute } from './features/segments/show/route.ts'
import { segmentsRoute } from './features/segments/list/route.ts'
import {
  auditRoute,
  businessSettingsRoute,
  channelsRoute,
  keysRoute,
  messagingRoute,
  peopleRoute,
  suppressionsRoute,
} from './features/settings/routes.ts'
import { signInRoute } from './features/account/sign-in/route.ts'
import { sqlRoute } from './features/data/sql/route.ts'
import { newTemplateRoute, templateRoute, templatesRoute } from './features/templates/route.ts'
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
