/**
 * Receives the body of a caller that is already known. A body may take two minutes to arrive, but a revocation takes
 * effect within a second. So the caller is checked again after a slow body.
 */
import { findCaller, requireUsable } from '../access/authenticate.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import type { Business } from '../../businesses/find-business.ts'
import { type BodyLimit, readJson } from './read-body.ts'

/** Milliseconds from the start of the request. The cached key (cached-lookup.ts) can be 750 ms older than that. */
export const STALE_MS = 200

export interface ReceivedBody {
  /** The business with its current settings. */
  business: Business
  body: unknown
}

/**
 * Returns the body of a request with a key of `business`. Throws RequestError: those of `readJson` and `findCaller`,
 * business_not_found, business_inactive.
 */
export async function receiveBody(
  app: AppContext,
  context: RequestContext,
  business: Business,
  limit: BodyLimit,
): Promise<ReceivedBody> {
  const body = await readJson(app, context, limit)
  context.body = body
  // Nearly all bodies arrive at once and need no second check.
  if (performance.now() - context.startedAt < STALE_MS) return { business, body }
  const holder = await findCaller(app, context)
  return { business: requireUsable(holder?.business ?? business), body }
}
