/** A body may take two minutes to arrive, and a revocation holds within a second: who sends one slowly is judged again at its end. */
import { findCaller, requireUsable } from '../access/authenticate.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import type { Business } from '../access/find-business.ts'
import { type BodyLimit, readJson } from './read-body.ts'

/** From the beginning of the call. What was remembered of its key (look-up.ts) could be three quarters of a second old by then. */
export const STALE_MS = 200

export interface Received {
  /** As it is now. */
  business: Business
  body: unknown
}

/**
 * The body of a call whose key was found to be `business`'s. Throws RequestError: what `readJson` and `findCaller` throw,
 * business_not_found, business_inactive.
 */
export async function receiveBody(
  app: AppContext,
  context: RequestContext,
  business: Business,
  limit: BodyLimit,
): Promise<Received> {
  const body = await readJson(app, context, limit)
  // Nearly all bodies come at once, and nobody is asked about them.
  if (performance.now() - context.startedAt < STALE_MS) return { business, body }
  const holder = await findCaller(app, context)
  return { business: requireUsable(holder?.business ?? business), body }
}
