/** Endpoints about a business that both the API with keys and the dashboard have. */
import type { Permission } from '../../accounts/rights.ts'
import type { ReadLimits, ReadRows } from '../../analytics/read-rows.ts'
import type { ErrorCode } from '../../errors.ts'
import type { ReadCost } from '../access/concurrency-limit.ts'
import { type Handler, type Principal, keyRead, keyWrite } from '../access/principal.ts'
import { type DashboardRoute, businessRoute } from '../access/authenticate-session.ts'
import { type AppContext, BODY_ERRORS, KEYED_ERRORS, type RequestContext, type Route } from '../app-context.ts'
import type { Operation } from '../openapi/operation.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './dashboard/people/session.ts'

/**
 * Reads a chart, also for callers without a request: `context` needs only the URL with the parameters, and the time.
 */
export interface ChartSource {
  limits: ReadLimits
  /**
   * Throws RequestError for invalid parameters, and for those that the principal must not use, before it calls `read`.
   */
  read: (app: Pick<AppContext, 'sql'>, context: RequestContext, principal: Principal, read: ReadRows) => Promise<object>
}

export interface BusinessEndpoint {
  method: Route['method']
  /** Path after `/api` or, in the dashboard, after the business. */
  path: string
  /** Permission that the dashboard requires. */
  permission: Permission
  /** Cost of a read. Default: `quick`. */
  cost?: ReadCost
  /** In the dashboard: requires a recent proof of identity. */
  isDangerous?: true
  /** In the dashboard: as in `Route`. */
  isCompressed?: true
  handler: Handler
  /** Only for charts. */
  source?: ChartSource
  operation: Omit<Operation, 'key' | 'errors'>
  /** Error codes besides those that every endpoint has. */
  errors: readonly ErrorCode[]
}

/** Returns the route of the API. A secret key may use all endpoints. */
export const toKeyRoute = ({
  method,
  path,
  permission,
  cost,
  handler,
  operation,
  errors,
}: BusinessEndpoint): Route => ({
  method,
  path: `/api${path}`,
  answer: permission.endsWith(':write') ? keyWrite(handler) : keyRead(handler, cost),
  operation: {
    ...operation,
    key: 'secret',
    errors: [...(operation.body ? BODY_ERRORS : KEYED_ERRORS), ...errors],
  },
})

export const toMemberRoute = ({ operation, errors, source: _, ...endpoint }: BusinessEndpoint): DashboardRoute =>
  businessRoute({
    ...endpoint,
    operation: {
      ...operation,
      key: 'session',
      errors: [...(operation.body ? MEMBER_BODY_ERRORS : MEMBER_ERRORS), ...errors],
    },
  })
