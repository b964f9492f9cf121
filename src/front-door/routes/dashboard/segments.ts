/** Segments in the dashboard: the endpoints of the API, for the people of the business. */
import type { DashboardRoute } from '../../access/authenticate-session.ts'
import { toMemberRoute } from '../business-endpoint.ts'
import { segmentEndpoints } from '../segments/endpoints.ts'
import { withSegmentsTag } from '../segments/segment-endpoint.ts'

export const segmentDashboardRoutes: readonly DashboardRoute[] = segmentEndpoints.map((one) =>
  toMemberRoute(withSegmentsTag(one)),
)
