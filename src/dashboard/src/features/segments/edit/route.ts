import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export interface EditorSearch {
  /** View of the rule. */
  view?: 'json'
}

const common = {
  getParentRoute: () => businessRoute,
  validateSearch: ({ view }: Record<string, unknown>): EditorSearch => (view === 'json' ? { view } : {}),
  loader: () => loadTexts('segments', 'segment-rules'),
}
const load = () => import('./page.tsx')

export const newSegmentRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/segments/new',
  component: lazyRouteComponent(load, 'NewSegmentPage'),
})

export const editSegmentRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/segments/$segmentId/edit',
  component: lazyRouteComponent(load, 'EditSegmentPage'),
})
