/** Composes the body of one request. */
import type { Touches } from './decide-touches.ts'
import type { Pending } from './open-outbox.ts'
import type { Touch } from './read-touch.ts'

/**
 * `caller`: the ids of the business and the visitor. Times are sent as ages relative to `now`, because visitors' clocks
 * are wrong.
 */
export function composeRequest(
  batch: Pending[],
  caller: { businessId: string; visitorId: string | undefined },
  touches: Touches | undefined,
  now: number,
): string {
  const ageOf = (at: number) => Math.max(0, Math.round(now - at))
  const withAge = (touch: Touch | undefined) => touch && { ...touch, at: undefined, ageMs: ageOf(touch.at) }
  const came = { first: withAge(touches?.first), latest: withAge(touches?.latest) }
  const bodies = batch.map(({ at, body }) => ({ ...body, ageMs: ageOf(at) }))
  const { route } = batch[0]!
  if (route === 'identify') return JSON.stringify({ ...caller, ...bodies[0] })
  if (route === 'track') return JSON.stringify({ ...caller, ...bodies[0], ...came })
  // Every page load begins with a page view.
  const begins = batch.some(({ body }) => body['kind'] === 'page_view')
  return JSON.stringify({ ...caller, hits: bodies, ...(begins && came) })
}
