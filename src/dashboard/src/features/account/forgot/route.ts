import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../../routes/root.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const forgotRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dashboard/forgot',
  loader: () => loadTexts('sign-in'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ForgotPage'),
})
