import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const campaignsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/campaigns',
  loader: () => loadTexts('campaigns'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'CampaignsPage'),
})
