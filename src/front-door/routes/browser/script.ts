/** Serves the built browser scripts to pages of any origin. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import browser from '../../../sdk/browser/package.json' with { type: 'json' }
import { acceptsEncoding, matchesEtag } from '../../http/negotiate.ts'
import type { RequestContext, AppContext, Route } from '../../app-context.ts'

/**
 * The script that a tag loads, the script that this loads for push messages, and the script that the service worker of
 * a page imports.
 */
const SCRIPTS = ['sluice.js', 'sluice-push.js', 'sluice-push-sw.js']

export const browserScriptRoutes = (): Route[] => SCRIPTS.map(scriptRoute)

/** Returns the route of a script. Reads the file once. */
function scriptRoute(name: string): Route {
  const plain = readFileSync(new URL(`../../../sdk/browser/${name}`, import.meta.url))
  const zipped = gzipSync(plain, { level: 9 })
  const etag = `W/"${browser.version}-${createHash('sha256').update(plain).digest('hex').slice(0, 16)}"`
  const answer = (_app: AppContext, context: RequestContext): Promise<Response> => {
    const { headers } = context.request
    const isKnown = matchesEtag(headers.get('if-none-match'), etag)
    const isZipped = !isKnown && acceptsEncoding(headers.get('accept-encoding'), 'gzip')
    // These replace the caching headers of other answers.
    Object.assign(context.headers, HEADERS, { ETag: etag }, isZipped && { 'Content-Encoding': 'gzip' })
    const body = isZipped ? zipped : plain
    return Promise.resolve(isKnown ? new Response(null, { status: 304 }) : new Response(body))
  }
  return { method: 'GET', path: `/${name}`, answer, operation: null }
}

const HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  // A new version reaches all pages within about an hour, and no page has to wait for it.
  'Cache-Control': 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=604800',
  Vary: 'Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
  // For pages that load it with CORS (`integrity`), or that require a cross-origin resource policy.
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
