/** What a call costs, and what its answer says about it (decisions, "Rate limit"). */
import { RequestError } from '../../errors.ts'
import { networkOf } from '../http/client-address.ts'
import type { Call, Charge, Door } from '../app-context.ts'
import type { Business } from './find-business.ts'
import { WINDOW_SECONDS } from './rate-limiter.ts'

/** Reading, management and callers without a secret key have buckets of this many times the business's limit. */
const WIDE = 5
/** A minute. Behind one address there may be a whole office; identities are dearer: each may make a contact. */
export const PER_ADDRESS = { identify: 20, 'browser-track': 300, 'browser-capture': 1200 } as const
export const PER_VISITOR = { 'browser-track': 60, 'browser-capture': 60 } as const
/** Of all callers without a secret key, as a multiple of the business's limit: every page that is looked at captures. */
const PER_BUSINESS = { identify: WIDE, 'browser-track': WIDE, 'browser-capture': 100 } as const

/** One unit of the business's own limit: track, a batch of any size, a keyed identify. */
export function chargeWrite(door: Door, call: Call, business: Business): Promise<void> {
  return charge(door, call, { bucket: `default:${business.id}`, limit: business.rateLimit, policy: 'default' })
}

/** One unit of reading and management. */
export function chargeRead(door: Door, call: Call, business: Business): Promise<void> {
  return charge(door, call, { bucket: `read:${business.id}`, limit: business.rateLimit * WIDE, policy: 'read' })
}

/** What callers without a secret key do: each has buckets of its own, so that no crowd of one keeps out another. */
export type UnkeyedRoad = keyof typeof PER_ADDRESS

export function chargeAddress(door: Door, call: Call, road: UnkeyedRoad): Promise<void> {
  const bucket = `${road}-address:${networkOf(call.address())}`
  return charge(door, call, { bucket, limit: PER_ADDRESS[road], policy: null })
}

/** Callers without a secret key share a bucket per business, which never touches that of its servers. */
export function chargeUnkeyed(door: Door, call: Call, business: Business, road: UnkeyedRoad): Promise<void> {
  const bucket = `${road}-unkeyed:${business.id}`
  return charge(door, call, { bucket, limit: business.rateLimit * PER_BUSINESS[road], policy: null })
}

export function chargeVisitor(
  door: Door,
  call: Call,
  { id }: Business,
  visitorId: string,
  road: keyof typeof PER_VISITOR,
): Promise<void> {
  return charge(door, call, { bucket: `${road}-visitor:${id}:${visitorId}`, limit: PER_VISITOR[road], policy: null })
}

/** Throws RequestError `rate_limited`. Sets the headers that go with every later answer of the call. */
async function charge(
  door: Door,
  call: Call,
  { bucket, limit, policy }: { bucket: string; limit: number; policy: string | null },
): Promise<void> {
  const taken = await door.limiter.take(bucket, limit)
  if (taken === null) return
  const { window, remaining, resetSeconds } = taken
  const unit: Charge = { bucket, window, remaining, resetSeconds, policy }
  if (policy !== null) call.headers['RateLimit-Policy'] = `"${policy}";q=${limit};w=${WINDOW_SECONDS}`
  showRemaining(call, unit)
  if (!taken.allowed) throw new RequestError('rate_limited', { headers: { 'Retry-After': String(resetSeconds) } })
  call.charges.push(unit)
}

/** Gives back what the call has taken so far. */
export async function refundCharges(door: Door, call: Call): Promise<void> {
  await Promise.all(
    call.charges.splice(0).map(async (unit) => {
      await door.limiter.refund(unit.bucket, unit.window)
      showRemaining(call, { ...unit, remaining: unit.remaining + 1 })
    }),
  )
}

function showRemaining(call: Call, { policy, remaining, resetSeconds }: Charge): void {
  if (policy !== null) call.headers['RateLimit'] = `"${policy}";r=${remaining};t=${resetSeconds}`
}
