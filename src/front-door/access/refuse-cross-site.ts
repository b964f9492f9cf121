import { RequestError } from '../../errors.ts'
import type { AppContext } from '../app-context.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Refuses requests that another site makes a browser send. Browsers send the source of a request in Sec-Fetch-Site;
 * over plain HTTP to a named host they send only Origin. A request without either header may only read. Throws
 * `cross_site_request`.
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

/** Compares with PUBLIC_URL if it is set, since a proxy may change the Host header. */
function isOwn(origin: string, publicUrl: string | undefined, host: string | null): boolean {
  if (publicUrl !== undefined) return new URL(publicUrl).origin === origin
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
}
