/** Finds the caller by its API key. This runs first: a call without a valid key gets no information about its body. */
import { hash } from 'node:crypto'
import { RequestError } from '../../errors.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import type { Business, KeyHolder } from '../../businesses/find-business.ts'

/** Returns the holder of a secret key, whose business is active. Throws RequestError (401, 403, 404, 429, 503). */
export function requireSecretKey(app: AppContext, context: RequestContext): Found<KeyHolder> {
  const found = findCaller(app, context)
  return found instanceof Promise ? found.then(requireSecret) : requireSecret(found)
}

function requireSecret(holder: KeyHolder | null): KeyHolder {
  if (holder === null) throw unauthorized('missing_api_key')
  if (holder.kind === 'publishable') throw new RequestError('publishable_key')
  requireUsable(holder.business)
  return holder
}

type Found<T> = T | Promise<T>

/**
 * Returns null without an Authorization header. Throws RequestError when the header has no valid key. A promise only
 * when the key is not cached: it would cost time in every request.
 */
export function findCaller(app: AppContext, context: RequestContext): Found<KeyHolder | null> {
  const header = context.request.headers.get('authorization')
  if (header === null) return null
  const key = readBearer(header)
  if (key === null && !/^bearer\b/i.test(header.trim())) throw unauthorized('invalid_api_key', NO_BEARER)
  const found = key === null ? null : app.keyHolders(sha256(key), context.address)
  return found instanceof Promise ? found.then((holder) => noteCaller(context, holder)) : noteCaller(context, found)
}

function noteCaller(context: RequestContext, holder: KeyHolder | null): KeyHolder {
  if (holder === null) throw unauthorized('invalid_api_key')
  context.businessId = holder.business.id
  context.keyHint = holder.hint
  if (holder.kind === 'secret') context.bodyQuotaKey = holder.business.id
  return holder
}

export function requireUsable(business: Business): Business {
  if (business.removed) throw new RequestError('business_not_found')
  if (!business.active) throw new RequestError('business_inactive')
  return business
}

/**
 * Returns the key, or null for a header of another form. Every key has `_live_` in its prefix; its kind is stored in
 * Postgres.
 */
export function readBearer(header: string): string | null {
  const key = /^bearer +([\x21-\x7e]{1,255})$/i.exec(header.trim())?.[1]
  return key?.includes('_live_') ? key : null
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

const NO_BEARER = 'The Authorization header does not begin with Bearer: send "Authorization: Bearer <key>".'

function unauthorized(code: 'missing_api_key' | 'invalid_api_key', message?: string): RequestError {
  return new RequestError(code, { ...(message && { message }), headers: { 'WWW-Authenticate': 'Bearer' } })
}
