import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'
import { readFilter } from './filter.ts'

export const liveRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/live',
  validateSearch: readFilter,
  loader: () => loadTexts('live'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'LivePage'),
})
