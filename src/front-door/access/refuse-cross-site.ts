import { RequestError } from '../../errors.ts'
import type { AppContext } from '../app-context.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Refuses what another site makes a browser send. Browsers say where a request comes from in Sec-Fetch-Site; over plain HTTP to a
 * named host they send Origin alone. A request without either may only read. Throws `cross_site_request`.
 */
export function refuseCrossSite({ config }: Pick<AppContext, 'config'>, { method, headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  const isSafe = SAFE_METHODS.has(method)
  if (site !== null) {
    if (site === 'same-origin' || (isSafe && site === 'none')) return
    throw new RequestError('cross_site_request')
  }
  const origin = headers.get('origin')
  if (origin === null ? isSafe : isOwn(origin, config.publicUrl, headers.get('host'))) return
  throw new RequestError('cross_site_request')
}

/** PUBLIC_URL says it if it is set: a proxy may change the Host header. */
function isOwn(origin: string, publicUrl: string | undefined, host: string | null): boolean {
  if (publicUrl !== undefined) return new URL(publicUrl).origin === origin
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
}
