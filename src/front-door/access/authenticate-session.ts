/** Finds the person by the cookie of the dashboard, and what they may do. */
import type { PersonActor } from '../../audit/audit.ts'
import type { Permission } from '../../accounts/rights.ts'
import { can } from '../../accounts/rights.ts'
import { type Session, findRole, findSession, recordSessionUse } from '../../accounts/sessions.ts'
import { RequestError } from '../../errors.ts'
import type { AppContext, Reply, RequestContext, Route } from '../app-context.ts'
import { pageLanguage } from '../http/page-language.ts'
import { readId } from '../../rules/read-id.ts'
import { chargeSession } from './charge.ts'
import { type ReadCost, acquireReadSlots } from './concurrency-limit.ts'
import type { Principal } from './principal.ts'
import { refuseCrossSite } from './refuse-cross-site.ts'
import { readSessionCookie } from './session-cookie.ts'

/** Milliseconds for which a proof of identity allows dangerous changes. */
export const CONFIRMED_MS = 10 * 60_000

/**
 * A route of the dashboard. `access` says who may use it. A test fails when a route of a business names no permission.
 */
export interface DashboardRoute extends Route {
  access: 'anybody' | 'signed-in' | Permission
  /** Requires a recent proof of identity. */
  isDangerous?: true
}

/** A person who is a member of the business, or an operator. */
export interface PersonPrincipal extends Principal {
  actor: PersonActor
}

interface Options extends Omit<DashboardRoute, 'answer' | 'access'> {
  permission: Permission
  handler: (app: AppContext, context: RequestContext, principal: PersonPrincipal) => Promise<Reply | Response>
  /** Default: `quick`. */
  cost?: ReadCost | ((context: RequestContext) => ReadCost)
}

/** Returns a route of one business. Its `path` begins after the id of the business. */
export function businessRoute({ permission, handler, path, cost = 'quick', ...route }: Options): DashboardRoute {
  const answer: Route['answer'] = async (app, context) => {
    const principal = await authenticateMember(app, context, permission, route.isDangerous ?? false)
    const slots = { ...app.slots, side: app.slots.dashboard }
    await acquireReadSlots(typeof cost === 'function' ? cost(context) : cost, slots, context, principal.business.id)
    return handler(app, context, principal)
  }
  return { ...route, path: `/dashboard/api/b/:businessId${path}`, access: permission, answer }
}

export type SessionHandler = (app: AppContext, context: RequestContext, session: Session) => Promise<Reply | Response>

/** Returns a route of the signed-in person or, with `permission: 'operations'`, of the installation. */
export function sessionRoute({
  handler,
  permission,
  ...route
}: Omit<DashboardRoute, 'answer' | 'access'> & { handler: SessionHandler; permission?: 'operations' }): DashboardRoute {
  const answer: Route['answer'] = async (app, context) => {
    const session = await authenticateSession(app, context)
    if (permission === 'operations' && !session.user.isOperator) throw new RequestError('not_permitted')
    if (route.isDangerous) requireConfirmed(session, context)
    return handler(app, context, session)
  }
  return { ...route, access: permission ?? 'signed-in', answer }
}

/** Throws RequestError: key_not_accepted, cross_site_request, not_signed_in, rate_limited. */
export async function authenticateSession(app: AppContext, context: RequestContext): Promise<Session> {
  const { request } = context
  if (request.headers.has('authorization')) throw new RequestError('key_not_accepted')
  refuseCrossSite(app, request)
  const token = readSessionCookie(app, request)
  const session = token === null ? null : await findSession(app.quick, token)
  if (session === null) throw new RequestError('not_signed_in')
  await chargeSession(app, context, session.user.id)
  if (session.isSeenStale) await recordSessionUse(app.sql, session.id, pageLanguage(request.headers))
  return session
}

/** Answers a business without this member as if it did not exist. */
async function authenticateMember(
  app: AppContext,
  context: RequestContext,
  permission: Permission,
  isDangerous: boolean,
): Promise<PersonPrincipal> {
  const session = await authenticateSession(app, context)
  const { user } = session
  const id = readId(context.params['businessId'])
  const role = id === null ? null : await findRole(app.quick, user, id)
  const business = id === null || role === null ? null : await app.businesses(id, context.address)
  if (business === null || role === null || business.removed) throw new RequestError('business_not_found')
  context.businessId = business.id
  context.bodyQuotaKey = business.id
  if (!can(role, permission)) throw new RequestError('not_permitted')
  if (isDangerous) requireConfirmed(session, context)
  return {
    business,
    actor: { kind: 'user', id: user.id, name: user.email },
    can: (one) => can(role, one),
  }
}

function requireConfirmed({ confirmedAt }: Session, { receivedAt }: RequestContext): void {
  if (receivedAt - confirmedAt.getTime() > CONFIRMED_MS) throw new RequestError('confirmation_required')
}
