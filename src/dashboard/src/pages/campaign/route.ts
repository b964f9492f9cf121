import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'

export const TABS = ['steps', 'enrolments', 'messages', 'simulate', 'backtest'] as const

export interface CampaignSearch {
  /** The report unless said. */
  tab?: (typeof TABS)[number]
  /** Of enrolments or messages; what is not one of their states is left out when they are read. */
  state?: string
  /** Of the report: the first and the last day of enrolments, `YYYY-MM-DD` in the zone of the reader. */
  from?: string
  to?: string
  /** The id of the backtest that is shown. */
  backtest?: string
}

const DAY = /^\d{4}-\d\d-\d\d$/

function readSearch({ tab, state, from, to, backtest }: Record<string, unknown>): CampaignSearch {
  const known = TABS.find((one) => one === tab)
  return {
    ...(known && { tab: known }),
    ...(typeof state === 'string' && { state }),
    ...(typeof from === 'string' && DAY.test(from) && { from }),
    ...(typeof to === 'string' && DAY.test(to) && { to }),
    ...(typeof backtest === 'string' && { backtest }),
  }
}

export const campaignRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/campaigns/$campaignId',
  validateSearch: readSearch,
  loader: () => loadTexts('campaigns', 'segments', 'segment-rules', 'test-sequence'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'CampaignPage'),
})
