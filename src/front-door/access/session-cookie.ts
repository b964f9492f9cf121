/**
 * The cookie of the dashboard. Over HTTPS, the prefix `__Host-` of its name makes browsers send it to this host only.
 * Plain HTTP does not allow the prefix.
 */
import { SESSION_DAYS } from '../../accounts/sessions.ts'
import type { AppContext } from '../app-context.ts'

const SECURE_NAME = '__Host-sluice'
const PLAIN_NAME = 'sluice'
const MAX_AGE_SECONDS = SESSION_DAYS * 86_400

/** Returns whether people reach the dashboard without HTTPS: according to PUBLIC_URL, or else to a trusted proxy. */
export function isPlainHttp({ config }: Pick<AppContext, 'config'>, request: Request): boolean {
  if (config.publicUrl !== undefined) return !config.publicUrl.startsWith('https:')
  const forwarded = config.trustProxy > 0 ? request.headers.get('x-forwarded-proto') : null
  return (forwarded?.split(',').at(-1)?.trim().toLowerCase() ?? new URL(request.url).protocol.slice(0, -1)) !== 'https'
}

/** Returns the token of the session, or null. */
export function readSessionCookie(app: Pick<AppContext, 'config'>, request: Request): string | null {
  const name = isPlainHttp(app, request) ? PLAIN_NAME : SECURE_NAME
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  const found = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  return found !== undefined && /^[\w-]{43}$/.test(found) ? found : null
}

/** Returns the value of Set-Cookie. A null token ends the session in the browser. */
export function sessionCookie(app: Pick<AppContext, 'config'>, request: Request, token: string | null): string {
  const isPlain = isPlainHttp(app, request)
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...(isPlain ? [] : ['Secure'])]
  const name = isPlain ? PLAIN_NAME : SECURE_NAME
  return [`${name}=${token ?? ''}`, `Max-Age=${token === null ? 0 : MAX_AGE_SECONDS}`, ...attributes].join('; ')
}
