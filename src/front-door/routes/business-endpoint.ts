/** Endpoints about a business that the API with keys and that of the dashboard both have. */
import type { Permission } from '../../accounts/rights.ts'
import type { ErrorCode } from '../../errors.ts'
import { type Handler, keyRead, keyWrite } from '../access/principal.ts'
import { type DashboardRoute, businessRoute } from '../access/authenticate-session.ts'
import { BODY_ERRORS, KEYED_ERRORS, type Route } from '../app-context.ts'
import type { Operation } from '../openapi/operation.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './dashboard/session.ts'

export interface BusinessEndpoint {
  method: Route['method']
  /** After `/api`, and after the business in the dashboard. */
  path: string
  /** In the dashboard. */
  permission: Permission
  /** Reads much: few at a time for a business, and few wait. */
  isCostly?: true
  /** In the dashboard: only shortly after the person has proved who they are. */
  isDangerous?: true
  handler: Handler
  operation: Omit<Operation, 'key' | 'errors'>
  /** Besides those that every endpoint has. */
  errors: readonly ErrorCode[]
}

/** A secret key may use all of them. */
export const toKeyRoute = ({
  method,
  path,
  permission,
  isCostly,
  handler,
  operation,
  errors,
}: BusinessEndpoint): Route => ({
  method,
  path: `/api${path}`,
  answer: permission.endsWith(':write') ? keyWrite(handler) : keyRead(handler, isCostly),
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
