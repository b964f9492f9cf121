/** Charges calls to the rate limiter, and sets the RateLimit headers (decisions, "Rate limit"). */
import { hash } from 'node:crypto'
import { RequestError } from '../../errors.ts'
import { networkOf } from '../http/client-address.ts'
import type { RequestContext, Charge, AppContext } from '../app-context.ts'
import type { Business } from '../../businesses/find-business.ts'
import { WINDOW_SECONDS } from './rate-limiter.ts'

/** Reads, management calls and callers without a secret key have buckets of this multiple of the business's limit. */
const WIDER_FACTOR = 5
/**
 * Requests per minute. One address may serve a whole office. `identify` has a lower limit, since each call may create a
 * contact.
 */
export const PER_ADDRESS = { identify: 20, 'browser-track': 300, 'browser-capture': 1200, 'browser-push': 60 } as const
export const PER_VISITOR = { 'browser-track': 60, 'browser-capture': 60, 'browser-push': 10 } as const
/**
 * Limit of all callers without a secret key together, as a multiple of the business's limit. Every page view sends
 * captures.
 */
const PER_BUSINESS = {
  identify: WIDER_FACTOR,
  'browser-track': WIDER_FACTOR,
  'browser-capture': 100,
  'browser-push': WIDER_FACTOR,
} as const

/** Charges one unit of the business's own limit: for `track`, a batch of any size, or `identify` with a key. */
export function chargeWrite(app: AppContext, context: RequestContext, business: Business): Promise<void> {
  return charge(app, context, { bucket: `default:${business.id}`, limit: business.rateLimit, policy: 'default' })
}

/** Charges one unit of the bucket for reads and management calls. */
export function chargeRead(app: AppContext, context: RequestContext, business: Business): Promise<void> {
  return charge(app, context, {
    bucket: `read:${business.id}`,
    limit: business.rateLimit * WIDER_FACTOR,
    policy: 'read',
  })
}

/** Charges one unit of the bucket for send calls. */
export function chargeCall(app: AppContext, context: RequestContext, business: Business): Promise<void> {
  return charge(app, context, {
    bucket: `messages:${business.id}`,
    limit: business.rateLimit * WIDER_FACTOR,
    policy: 'messages',
  })
}

/** Requests per minute of one person in the dashboard. Pages refresh every few seconds. */
const PER_USER = 1200

export function chargeSession(app: AppContext, context: RequestContext, userId: string): Promise<void> {
  return charge(app, context, { bucket: `user:${userId}`, limit: PER_USER, policy: null })
}

/** Attempts per minute to sign in, to use a link from a mail, or to have one sent. */
const SIGN_INS = { address: 30, email: 10 } as const

/** Unlike the other limits, this one rejects callers without Redis: guesses must never be unlimited. */
export async function chargeSignIn(app: AppContext, context: RequestContext, email: string | null): Promise<void> {
  const buckets = [
    { bucket: `sign-in-address:${networkOf(context.address())}`, limit: SIGN_INS.address },
    ...(email === null ? [] : [{ bucket: `sign-in-email:${hash('sha256', email)}`, limit: SIGN_INS.email }]),
  ]
  for (const { bucket, limit } of buckets) {
    const taken = await app.limiter.take(bucket, limit)
    if (taken === null) throw new RequestError('unavailable', { headers: { 'Retry-After': '5' } })
    if (!taken.allowed) {
      throw new RequestError('rate_limited', { headers: { 'Retry-After': String(taken.resetSeconds) } })
    }
  }
}

/**
 * Requests per minute for the links in messages. Mail programs unsubscribe very many people from a few addresses. So
 * genuine links are limited per contact, and an address is limited only in forged links.
 */
export const LINK_LIMITS = { contact: 30, forged: 60 } as const

export function chargeLink(
  app: AppContext,
  context: RequestContext,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<void> {
  const bucket = `link:${businessId}:${contactId}`
  return charge(app, context, { bucket, limit: LINK_LIMITS.contact, policy: null })
}

export function chargeForgedLink(app: AppContext, context: RequestContext): Promise<void> {
  const bucket = `forged-link:${networkOf(context.address())}`
  return charge(app, context, { bucket, limit: LINK_LIMITS.forged, policy: null })
}

/** Callbacks per minute from one address that are not from a provider. Genuine callbacks are not limited. */
export const FORGED_CALLBACKS = 60

/** Takes the unit outside the charges of the request: forged callbacks are answered with 403, which refunds those. */
export async function chargeForgedCallback(app: AppContext, context: RequestContext): Promise<void> {
  const taken = await app.limiter.take(`forged-callback:${networkOf(context.address())}`, FORGED_CALLBACKS)
  if (taken === null || taken.allowed) return
  throw new RequestError('rate_limited', { headers: { 'Retry-After': String(taken.resetSeconds) } })
}

/** Endpoints without a secret key. Each has its own buckets, so that load on one does not block another. */
export type UnkeyedEndpoint = keyof typeof PER_ADDRESS

export function chargeAddress(app: AppContext, context: RequestContext, endpoint: UnkeyedEndpoint): Promise<void> {
  const bucket = `${endpoint}-address:${networkOf(context.address())}`
  return charge(app, context, { bucket, limit: PER_ADDRESS[endpoint], policy: null })
}

/**
 * Charges the bucket that all callers without a secret key share. It is separate from that of the business's servers.
 */
export function chargeUnkeyed(
  app: AppContext,
  context: RequestContext,
  business: Business,
  endpoint: UnkeyedEndpoint,
): Promise<void> {
  const bucket = `${endpoint}-unkeyed:${business.id}`
  return charge(app, context, { bucket, limit: business.rateLimit * PER_BUSINESS[endpoint], policy: null })
}

export function chargeVisitor(
  app: AppContext,
  context: RequestContext,
  { id }: Business,
  visitorId: string,
  endpoint: keyof typeof PER_VISITOR,
): Promise<void> {
  return charge(app, context, {
    bucket: `${endpoint}-visitor:${id}:${visitorId}`,
    limit: PER_VISITOR[endpoint],
    policy: null,
  })
}

/** Throws RequestError `rate_limited`. Sets the RateLimit headers of the answer. */
async function charge(
  app: AppContext,
  context: RequestContext,
  { bucket, limit, policy }: { bucket: string; limit: number; policy: string | null },
): Promise<void> {
  const taken = await app.limiter.take(bucket, limit)
  if (taken === null) return
  const { window, remaining, resetSeconds } = taken
  const unit: Charge = { bucket, window, remaining, resetSeconds, policy }
  if (policy !== null) context.headers['RateLimit-Policy'] = `"${policy}";q=${limit};w=${WINDOW_SECONDS}`
  showRemaining(context, unit)
  if (!taken.allowed) throw new RequestError('rate_limited', { headers: { 'Retry-After': String(resetSeconds) } })
  context.charges.push(unit)
}

/** Refunds all charges of the request. */
export async function refundCharges(app: AppContext, context: RequestContext): Promise<void> {
  await Promise.all(
    context.charges.splice(0).map(async (unit) => {
      await app.limiter.refund(unit.bucket, unit.window)
      showRemaining(context, { ...unit, remaining: unit.remaining + 1 })
    }),
  )
}

function showRemaining(context: RequestContext, { policy, remaining, resetSeconds }: Charge): void {
  if (policy !== null) context.headers['RateLimit'] = `"${policy}";r=${remaining};t=${resetSeconds}`
}
