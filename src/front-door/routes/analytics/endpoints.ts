/**
 * Endpoints of charts: of events, contacts, revenue and web pages. The API with keys and the dashboard have the same
 * ones.
 */
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { attributionEndpoint } from './attribution.ts'
import { engagementEndpoints } from './engagement.ts'
import { funnelEndpoints } from './funnel.ts'
import { retentionEndpoints } from './retention.ts'
import { revenueEndpoints } from './revenue.ts'
import { seriesEndpoint } from './series.ts'
import { stagesEndpoint } from './stages.ts'
import { webEndpoints } from './web.ts'

export const analyticsEndpoints: readonly BusinessEndpoint[] = [
  seriesEndpoint,
  ...funnelEndpoints,
  ...retentionEndpoints,
  stagesEndpoint,
  ...revenueEndpoints,
  attributionEndpoint,
  ...webEndpoints,
  ...engagementEndpoints,
]
