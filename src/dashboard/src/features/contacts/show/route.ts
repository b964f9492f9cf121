import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'
import { EVENT_KINDS, type TimelineSearch } from './event-kinds.ts'

function readSearch({ type }: Record<string, unknown>): TimelineSearch {
  const kind = EVENT_KINDS.find((one) => one === type)
  return kind === undefined ? {} : { type: kind }
}

export const contactRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/contacts/$contactId',
  validateSearch: readSearch,
  loader: () => loadTexts('campaigns', 'contacts', 'segments', 'segment-rules'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ContactPage'),
})
