import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

const common = { getParentRoute: () => businessRoute, loader: () => loadTexts('settings') }

export const keysRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/settings/keys',
  component: lazyRouteComponent(() => import('./keys/page.tsx'), 'KeysPage'),
})

export const businessSettingsRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/settings/business',
  component: lazyRouteComponent(() => import('./business/page.tsx'), 'BusinessPage'),
})

export const peopleRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/settings/people',
  component: lazyRouteComponent(() => import('./people/page.tsx'), 'PeoplePage'),
})

export const auditRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/settings/audit',
  component: lazyRouteComponent(() => import('./audit/page.tsx'), 'AuditPage'),
})
