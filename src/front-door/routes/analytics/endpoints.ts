/**
 * Endpoints of charts: of events, contacts, revenue and web pages. The API with keys and the dashboard have the same
 * ones.
 */
import type { ComputedKind } from '../../../analytics/charts/charts.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { attributionEndpoint } from './attribution.ts'
import { engagementEndpoint, moversEndpoint } from './engagement.ts'
import { funnelContactsEndpoint, funnelEndpoint } from './funnel.ts'
import { lifecycleEndpoint, retentionEndpoint } from './retention.ts'
import { cohortsEndpoint, revenueEndpoint } from './revenue.ts'
import { seriesEndpoint } from './series.ts'
import { stagesEndpoint } from './stages.ts'
import { liveEndpoint, pagesEndpoint, sourcesEndpoint, trafficEndpoint } from './web.ts'

/** The endpoints of the charts that boards can show. */
export const BOARD_ENDPOINTS: Record<ComputedKind, BusinessEndpoint> = {
  series: seriesEndpoint,
  funnel: funnelEndpoint,
  retention: retentionEndpoint,
  lifecycle: lifecycleEndpoint,
  stages: stagesEndpoint,
  revenue: revenueEndpoint,
  cohorts: cohortsEndpoint,
  attribution: attributionEndpoint,
  web: trafficEndpoint,
  pages: pagesEndpoint,
  sources: sourcesEndpoint,
  engagement: engagementEndpoint,
}

export const analyticsEndpoints: readonly BusinessEndpoint[] = [
  seriesEndpoint,
  funnelEndpoint,
  funnelContactsEndpoint,
  retentionEndpoint,
  lifecycleEndpoint,
  stagesEndpoint,
  revenueEndpoint,
  cohortsEndpoint,
  attributionEndpoint,
  trafficEndpoint,
  pagesEndpoint,
  sourcesEndpoint,
  liveEndpoint,
  engagementEndpoint,
  moversEndpoint,
]
