import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

export const contactRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/contacts/$contactId',
  loader: () => loadTexts('contacts'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ContactPage'),
})
