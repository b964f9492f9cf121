/**
 * The caller of a request for a business: a secret key, or a person with a session. Handlers that serve both take it as
 * an argument.
 */
import type { Actor } from '../../audit/audit.ts'
import type { Permission } from '../../accounts/rights.ts'
import type { AppContext, Reply, RequestContext, Route } from '../app-context.ts'
import { requireSecretKey } from './authenticate.ts'
import { chargeRead } from './charge.ts'
import { type ReadCost, acquireReadSlots } from './concurrency-limit.ts'
import type { Business } from '../../businesses/find-business.ts'

export interface Principal {
  business: Business
  actor: Actor
  can: (permission: Permission) => boolean
}

export type Handler = (app: AppContext, context: RequestContext, principal: Principal) => Promise<Reply | Response>

/** Wraps a management call with a secret key. It is charged to the bucket that reads and management calls share. */
export function keyWrite(handler: Handler): Route['answer'] {
  return async (app, context) => handler(app, context, await authenticateKey(app, context))
}

/** Wraps a read with a secret key. It is charged like a management call, and takes the slots of its cost. */
export function keyRead(handler: Handler, cost: ReadCost = 'quick'): Route['answer'] {
  return async (app, context) => {
    const principal = await authenticateKey(app, context)
    await acquireReadSlots(cost, { ...app.slots, side: app.slots.read }, context, principal.business.id)
    return handler(app, context, principal)
  }
}

/** A secret key permits everything within its business. */
async function authenticateKey(app: AppContext, context: RequestContext): Promise<Principal> {
  const { business, keyId, hint } = await requireSecretKey(app, context)
  await chargeRead(app, context, business)
  return {
    business,
    actor: { kind: 'key', id: keyId, name: `…${hint}` },
    can: (permission) => permission !== 'operations',
  }
}
