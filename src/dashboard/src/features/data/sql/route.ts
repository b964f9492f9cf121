import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export interface SqlSearch {
  /** ID of a saved query. */
  query?: string | undefined
}

export const sqlRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/sql',
  validateSearch: ({ query }: Record<string, unknown>): SqlSearch => (typeof query === 'string' ? { query } : {}),
  loader: () => loadTexts('sql'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SqlPage'),
})
