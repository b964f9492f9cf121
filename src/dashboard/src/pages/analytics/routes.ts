import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'
import { readAttribution } from './attribution/search.ts'
import { readEvents, readFunnel, readRetention, readRevenue } from './search.ts'

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
