import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../routes/root.tsx'
import { loadTexts } from '../../texts/index.ts'

export interface ReferenceSearch {
  /** The `operationId` of the one that is open; without it the overview. */
  operation?: string
}

/** For callers, who may have no account. */
export const referenceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dashboard/reference',
  validateSearch: ({ operation }: Record<string, unknown>): ReferenceSearch =>
    typeof operation === 'string' ? { operation } : {},
  loader: () => loadTexts('shell', 'reference'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ReferencePage'),
})
