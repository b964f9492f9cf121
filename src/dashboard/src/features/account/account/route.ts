import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { appRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/dashboard/account',
  loader: () => loadTexts('account'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AccountPage'),
})
