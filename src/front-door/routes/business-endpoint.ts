/** Endpoints about a business that both the API with keys and the dashboard have. */
import type { Permission } from '../../accounts/rights.ts'
import type { ErrorCode } from '../../errors.ts'
import type { ReadCost } from '../access/concurrency-limit.ts'
import { type Handler, keyRead, keyWrite } from '../access/principal.ts'
import { type DashboardRoute, businessRoute } from '../access/authenticate-session.ts'
import { BODY_ERRORS, KEYED_ERRORS, type Route } from '../app-context.ts'
import type { Operation } from '../openapi/operation.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './dashboard/people/session.ts'

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
  operation: Omit<Operation, 'key' | 'errors'>
  /** Error codes besides those that every endpoint has. */
  errors: readonly ErrorCode[]
}

const CHANGES = /:(write|erase)$/

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
  answer: CHANGES.test(permission) ? keyWrite(handler) : keyRead(handler, cost),
  operation: {
    ...operation,
    key: 'secret',
    errors: [...(operation.body ? BODY_ERRORS : KEYED_ERRORS), ...errors],
  },
})

export const toMemberRoute = ({ operation, errors, ...endpoint }: BusinessEndpoint): DashboardRoute =>
  businessRoute({
    ...endpoint,
    operation: {
      ...operation,
      key: 'session',
      errors: [...(operation.body ? MEMBER_BODY_ERRORS : MEMBER_ERRORS), ...errors],
    },
  })
