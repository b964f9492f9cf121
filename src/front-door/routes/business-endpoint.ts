/** Endpoints about a business that the API with keys and that of the dashboard both have. */
import type { Permission } from '../../accounts/rights.ts'
import type { ReadLimits, ReadRows } from '../../analytics/read-rows.ts'
import type { ErrorCode } from '../../errors.ts'
import type { ReadCost } from '../access/concurrency-limit.ts'
import { type Handler, type Principal, keyRead, keyWrite } from '../access/principal.ts'
import { type DashboardRoute, businessRoute } from '../access/authenticate-session.ts'
import { type AppContext, BODY_ERRORS, KEYED_ERRORS, type RequestContext, type Route } from '../app-context.ts'
import type { Operation } from '../openapi/operation.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './dashboard/session.ts'

/** What a chart reads, for those who read it without a request: `context` needs the address with the parameters and the time. */
export interface ChartSource {
  limits: ReadLimits
  /** Throws RequestError for wrong parameters, and for those that the principal must not use, before `read` is called. */
  read: (app: Pick<AppContext, 'sql'>, context: RequestContext, principal: Principal, read: ReadRows) => Promise<object>
}

export interface BusinessEndpoint {
  method: Route['method']
  /** After `/api`, and after the business in the dashboard. */
  path: string
  /** In the dashboard. */
  permission: Permission
  /** Of a read; `quick` when left out. */
  cost?: ReadCost
  /** In the dashboard: only shortly after the person has proved who they are. */
  isDangerous?: true
  /** In the dashboard, as in `Route`. */
  isCompressed?: true
  handler: Handler
  /** Of a chart. */
  source?: ChartSource
  operation: Omit<Operation, 'key' | 'errors'>
  /** Besides those that every endpoint has. */
  errors: readonly ErrorCode[]
}

/** A secret key may use all of them. */
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
