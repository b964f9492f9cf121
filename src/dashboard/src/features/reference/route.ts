import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../routes/root.tsx'
import { loadTexts } from '../../texts/index.ts'

export interface ReferenceSearch {
  /** `operationId` of the open operation. Without it, the overview is shown. */
  operation?: string
}

/** For API callers, who may not have an account. */
export const referenceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dashboard/reference',
  validateSearch: ({ operation }: Record<string, unknown>): ReferenceSearch =>
    typeof operation === 'string' ? { operation } : {},
  loader: () => loadTexts('shell', 'reference'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ReferencePage'),
})
