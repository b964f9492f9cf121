import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

export const homeRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId',
  loader: () => loadTexts('home'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'HomePage'),
})
