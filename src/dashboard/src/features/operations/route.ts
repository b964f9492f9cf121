import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

export const operationsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/dashboard/operations',
  loader: () => loadTexts('operations', 'settings'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'OperationsPage'),
})
