import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const importsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/imports',
  loader: () => loadTexts('imports'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ImportsPage'),
})
