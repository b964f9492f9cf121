import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const segmentsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/segments',
  loader: () => loadTexts('segments'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SegmentsPage'),
})
