import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export interface CampaignEditorSearch {
  /** Default: the form. */
  view?: 'json'
}

const common = {
  getParentRoute: () => businessRoute,
  validateSearch: ({ view }: Record<string, unknown>): CampaignEditorSearch =>
    view === 'json' ? { view: 'json' } : {},
  loader: () => loadTexts('campaigns', 'campaign-editor', 'drafts', 'segments', 'segment-rules'),
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
