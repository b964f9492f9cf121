import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'
import { readAttribution } from './attribution/search.ts'
import { readEvents, readFunnel, readLifecycle, readRange, readRetention, readRevenue, readWeb } from './search.ts'

const common = {
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('analytics', 'contacts'),
}

export const eventsRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics',
  validateSearch: readEvents,
  loader: () => loadTexts('analytics', 'contacts', 'segments', 'segment-rules'),
  component: lazyRouteComponent(() => import('./events/page.tsx'), 'EventsPage'),
})

export const funnelRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/funnel',
  validateSearch: readFunnel,
  loader: () => loadTexts('analytics', 'segments', 'segment-rules'),
  component: lazyRouteComponent(() => import('./funnel/page.tsx'), 'FunnelPage'),
})

export const retentionRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/retention',
  validateSearch: readRetention,
  component: lazyRouteComponent(() => import('./retention/page.tsx'), 'RetentionPage'),
})

export const revenueRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/revenue',
  validateSearch: readRevenue,
  component: lazyRouteComponent(() => import('./revenue/page.tsx'), 'RevenuePage'),
})

export const attributionRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/attribution',
  validateSearch: readAttribution,
  loader: () => loadTexts('analytics', 'attribution', 'imports'),
  component: lazyRouteComponent(() => import('./attribution/page.tsx'), 'AttributionPage'),
})

export const lifecycleRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/lifecycle',
  validateSearch: readLifecycle,
  loader: () => loadTexts('analytics', 'journeys'),
  component: lazyRouteComponent(() => import('./lifecycle/page.tsx'), 'LifecyclePage'),
})

export const stagesRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/stages',
  validateSearch: readRange,
  loader: () => loadTexts('analytics', 'journeys', 'contacts'),
  component: lazyRouteComponent(() => import('./stages/page.tsx'), 'StagesPage'),
})

export const webRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/web',
  validateSearch: readWeb,
  loader: () => loadTexts('analytics', 'web'),
  component: lazyRouteComponent(() => import('./web/page.tsx'), 'WebPage'),
})

export const engagementRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/engagement',
  validateSearch: readRange,
  loader: () => loadTexts('analytics', 'journeys', 'segments'),
  component: lazyRouteComponent(() => import('./engagement/page.tsx'), 'EngagementPage'),
})

export const audienceRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/audience',
  validateSearch: readRange,
  loader: () => loadTexts('analytics', 'journeys', 'segments', 'campaigns'),
  component: lazyRouteComponent(() => import('./audience/page.tsx'), 'AudiencePage'),
})
