/** The memory that the bodies of all requests being answered now may take together, and one caller's share of it. */
import { RequestError } from '../../errors.ts'
import type { Call, Door } from '../app-context.ts'

export interface BodyRoom {
  /** Bytes for all requests together: a crowd of large bodies must not fill the memory. */
  room: number
  /** Bytes for those of one business; callers without a secret key have one share together. */
  share: number
}

export type Holder = Pick<Door, 'inFlight'>
export type Held = Pick<Call, 'bodyShare' | 'bodyBytes'>

/** Holds so many bytes more until `letGo`. Throws RequestError `unavailable` when they go past the room or the share. */
export function hold({ inFlight }: Holder, call: Held, bytes: number, { room, share }: BodyRoom): void {
  const own = (inFlight.bytesOf.get(call.bodyShare) ?? 0) + bytes
  if (inFlight.bytes + bytes > room || own > share) {
    throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  }
  inFlight.bytes += bytes
  inFlight.bytesOf.set(call.bodyShare, own)
  call.bodyBytes += bytes
}

/** Gives back what the call holds. */
export function letGo({ inFlight }: Holder, call: Held): void {
  inFlight.bytes -= call.bodyBytes
  const own = (inFlight.bytesOf.get(call.bodyShare) ?? 0) - call.bodyBytes
  if (own > 0) inFlight.bytesOf.set(call.bodyShare, own)
  else inFlight.bytesOf.delete(call.bodyShare)
  call.bodyBytes = 0
}
