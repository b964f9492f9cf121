import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

const common = {
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('campaigns', 'segments'),
}
const load = () => import('./page.tsx')

export const newCampaignRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/campaigns/new',
  component: lazyRouteComponent(load, 'NewCampaignPage'),
})

export const editCampaignRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/campaigns/$campaignId/edit',
  component: lazyRouteComponent(load, 'EditCampaignPage'),
})
