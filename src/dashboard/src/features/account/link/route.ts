import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../../routes/root.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dashboard/link',
  loader: () => loadTexts('sign-in'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'LinkPage'),
})
