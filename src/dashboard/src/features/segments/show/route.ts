import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export const PERIODS = [30, 90, 365] as const
export type Period = (typeof PERIODS)[number]

export interface SegmentSearch {
  tab?: 'changes' | 'why'
  /** Days in the chart. Default: 30. */
  days?: Period
  /** Contact whose membership is explained. */
  contact?: string
}

function readSearch({ tab, days, contact }: Record<string, unknown>): SegmentSearch {
  const period = PERIODS.find((one) => one === days)
  return {
    ...((tab === 'changes' || tab === 'why') && { tab }),
    ...(period !== undefined && { days: period }),
    ...(typeof contact === 'string' && { contact }),
  }
}

export const segmentRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/segments/$segmentId',
  validateSearch: readSearch,
  loader: () => loadTexts('segments', 'segment-rules'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SegmentPage'),
})
