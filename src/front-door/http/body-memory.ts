/** Limits the memory for the bodies of all requests in flight, and each caller's share of it. */
import { RequestError } from '../../errors.ts'
import type { RequestContext, AppContext } from '../app-context.ts'

export interface BodyMemoryLimits {
  /** Bytes for all requests together, so that many large bodies do not fill the memory. */
  room: number
  /** Bytes for the requests of one business. All callers without a secret key use one share together. */
  share: number
}

export type BodyMemoryOwner = Pick<AppContext, 'inFlight'>
export type BodyMemoryUser = Pick<RequestContext, 'bodyQuotaKey' | 'bodyBytes'>

/**
 * Reserves `bytes` more until `releaseBodyMemory`. Throws RequestError `unavailable` when that exceeds the room or the
 * share.
 */
export function reserveBodyMemory(
  { inFlight }: BodyMemoryOwner,
  context: BodyMemoryUser,
  bytes: number,
  { room, share }: BodyMemoryLimits,
): void {
  const own = (inFlight.bytesOf.get(context.bodyQuotaKey) ?? 0) + bytes
  if (inFlight.bytes + bytes > room || own > share) {
    throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  }
  inFlight.bytes += bytes
  inFlight.bytesOf.set(context.bodyQuotaKey, own)
  context.bodyBytes += bytes
}

/** Releases all memory that the request has reserved. */
export function releaseBodyMemory({ inFlight }: BodyMemoryOwner, context: BodyMemoryUser): void {
  inFlight.bytes -= context.bodyBytes
  const own = (inFlight.bytesOf.get(context.bodyQuotaKey) ?? 0) - context.bodyBytes
  if (own > 0) inFlight.bytesOf.set(context.bodyQuotaKey, own)
  else inFlight.bytesOf.delete(context.bodyQuotaKey)
  context.bodyBytes = 0
}
