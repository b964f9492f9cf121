import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

export const boardsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/boards',
  loader: () => loadTexts('boards'),
  component: lazyRouteComponent(() => import('./list/page.tsx'), 'BoardsPage'),
})

export interface BoardSearch {
  /** Opens the settings of the mail. */
  mail?: true | undefined
}

export const boardRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/boards/$boardId',
  validateSearch: ({ mail }: Record<string, unknown>): BoardSearch => (mail === true ? { mail } : {}),
  loader: () => loadTexts('boards', 'analytics', 'contacts', 'sql'),
  component: lazyRouteComponent(() => import('./show/page.tsx'), 'BoardPage'),
})
