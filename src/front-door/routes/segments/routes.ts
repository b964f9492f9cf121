import type { Route } from '../../app-context.ts'
import { toKeyRoute } from '../business-endpoint.ts'
import { segmentEndpoints } from './endpoints.ts'
import { withSegmentsTag } from './segment-endpoint.ts'

export const segmentRoutes: readonly Route[] = segmentEndpoints.map((one) => toKeyRoute(withSegmentsTag(one)))
