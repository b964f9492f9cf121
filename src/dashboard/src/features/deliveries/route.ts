import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

export const STATES = ['queued', 'sent', 'dead'] as const
export type State = (typeof STATES)[number]

/** Filters of the list, which are in the URL. */
export interface DeliverySearch {
  state?: State
  /** ID of a destination. */
  destination?: string
}

function readSearch({ state, destination }: Record<string, unknown>): DeliverySearch {
  const known = STATES.find((one) => one === state)
  return {
    ...(known && { state: known }),
    ...(typeof destination === 'string' && /^[\da-f-]{36}$/i.test(destination) && { destination }),
  }
}

export const deliveriesRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/deliveries',
  validateSearch: readSearch,
  loader: () => loadTexts('deliveries'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'DeliveriesPage'),
})
