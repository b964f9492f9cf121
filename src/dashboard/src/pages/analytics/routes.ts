import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'
import { readEvents, readFunnel, readRetention, readRevenue } from './search.ts'

const common = {
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('analytics', 'contacts'),
}

export const eventsRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics',
  validateSearch: readEvents,
  component: lazyRouteComponent(() => import('./events/page.tsx'), 'EventsPage'),
})

export const funnelRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/analytics/funnel',
  validateSearch: readFunnel,
  loader: () => loadTexts('analytics', 'segments'),
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
