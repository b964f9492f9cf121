import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'
import { CHANNELS, type Channel } from '../templates/fields.ts'

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

export interface ChannelsSearch {
  /** Shows the log of this channel instead of the list of channels. */
  log?: Channel
  /** Channel whose settings are open at first. */
  channel?: Channel
}

export const channelsRoute = createRoute({
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('channels', 'campaigns', 'test-send'),
  path: '/dashboard/b/$businessId/settings/channels',
  validateSearch: (search: Record<string, unknown>): ChannelsSearch => {
    const [log, channel] = [search['log'], search['channel']].map((given) => CHANNELS.find((one) => one === given))
    return { ...(log && { log }), ...(channel && { channel }) }
  },
  component: lazyRouteComponent(() => import('./channels/page.tsx'), 'ChannelsPage'),
})

export const messagingRoute = createRoute({
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('messaging', 'settings', 'campaigns', 'campaign-editor'),
  path: '/dashboard/b/$businessId/settings/messages',
  component: lazyRouteComponent(() => import('./messaging/page.tsx'), 'MessagingPage'),
})

export const suppressionsRoute = createRoute({
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('suppressions', 'campaigns'),
  path: '/dashboard/b/$businessId/settings/suppressions',
  component: lazyRouteComponent(() => import('./suppressions/page.tsx'), 'SuppressionsPage'),
})
