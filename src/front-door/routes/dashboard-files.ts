/** Serves the built pages of the dashboard: one document for all pages, and its files under names with hashes. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { PAGE_PATHS } from '../../dashboard/src/pages.ts'
import { RequestError } from '../../errors.ts'
import type { AppContext, RequestContext, Route } from '../app-context.ts'
import { acceptsEncoding, matchesEtag } from '../http/negotiate.ts'
import { pageLanguage, readCookie } from '../http/page-language.ts'
import { readId } from '../../rules/read-id.ts'
import { type Manifest, dataHints, hintsFor } from './dashboard-hints.ts'

const BUILT = new URL('../../dashboard/built/', import.meta.url)

/** Returns the routes. Reads all files once. */
export function dashboardFileRoutes(): Route[] {
  const manifest = JSON.parse(readFileSync(new URL('manifest.json', BUILT), 'utf8')) as Manifest
  const template = readFileSync(new URL('index.html', BUILT), 'utf8')
  if (!template.includes(ROOT)) throw new Error(`index.html must begin with ${ROOT}`)
  return [
    { method: 'GET', path: '/', answer: redirectToDashboard, operation: null },
    ...PAGE_PATHS.map((path): Route => {
      const answer = servePage(path, template, (language) => hintsFor(path, language, manifest))
      return { method: 'GET', path: path.replaceAll('$', ':'), answer, operation: null }
    }),
    { method: 'GET', path: '/dashboard/assets/:file', answer: serveAssets(), operation: null },
  ]
}

/**
 * Returns what answers a request for a path that has no page: for a browser that opens it, the dashboard, which says that
 * the page does not exist. Null for calls and for missing files.
 */
export function missingPage(): (request: Request) => Route['answer'] | null {
  const template = readFileSync(new URL('index.html', BUILT), 'utf8')
  const manifest = JSON.parse(readFileSync(new URL('manifest.json', BUILT), 'utf8')) as Manifest
  const answer = servePage(MISSING, template, (language) => hintsFor(MISSING, language, manifest), 404)
  return ({ method, url, headers }) => {
    const isPage = /^\/dashboard\/(?!api\/|assets\/)/.test(new URL(url).pathname)
    const isOpened = method === 'GET' && (headers.get('accept') ?? '').includes('text/html')
    return isPage && isOpened ? answer : null
  }
}

/** Stands for all paths that have no page. */
const MISSING = '/dashboard/missing'

function redirectToDashboard(_: AppContext, context: RequestContext): Promise<Response> {
  Object.assign(context.headers, { Location: '/dashboard', 'Cache-Control': 'no-cache' })
  return Promise.resolve(new Response(null, { status: 302 }))
}

/** One file, compressed at most once per coding, for the first request that accepts it. */
interface Served {
  plain: Buffer
  packed: Map<string, Promise<Buffer>>
}

const makeServed = (plain: Buffer): Served => ({ plain, packed: new Map() })

const pack = {
  br: (plain: Buffer) =>
    promisify(brotliCompress)(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
  gzip: (plain: Buffer) => promisify(gzip)(plain, { level: 9 }),
}

async function send({ plain, packed }: Served, context: RequestContext): Promise<Response> {
  const accepted = context.request.headers.get('accept-encoding')
  const coding = (['br', 'gzip'] as const).find((one) => acceptsEncoding(accepted, one))
  if (coding === undefined) return new Response(plain)
  let body = packed.get(coding)
  if (body === undefined) {
    body = pack[coding](plain)
    packed.set(coding, body)
  }
  context.headers['Content-Encoding'] = coding
  return new Response(await body)
}

/**
 * Allows no inline code, nothing from other hosts, and no HTML made from strings: `trusted-types 'none'` allows no
 * policy that could make it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  Vary: 'Cookie, Accept-Language, Accept-Encoding',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

const THEMES = ['system', 'light', 'dark'] as const
/** Start tag in index.html. It is replaced according to the person's cookies, so that the first paint is right. */
const ROOT = '<html lang="en" dir="ltr" data-theme="system">'

function servePage(
  path: string,
  template: string,
  hintsIn: (language: string) => string[],
  status = 200,
): Route['answer'] {
  const variants = new Map<string, Served & { etag: string }>()
  return async (_, context) => {
    const { headers } = context.request
    const theme = readCookie(headers, 'sluice_theme', THEMES) ?? 'system'
    const language = pageLanguage(headers)
    const root = `<html lang="${language}" dir="${language === 'he' ? 'rtl' : 'ltr'}" data-theme="${theme}">`
    let variant = variants.get(root)
    if (variant === undefined) {
      const hints = hintsIn(language).map((hint) => `  ${hint}\n  `)
      const plain = Buffer.from(template.replace(ROOT, root).replace('</head>', `${hints.join('')}</head>`))
      variant = { ...makeServed(plain), etag: `W/"${createHash('sha256').update(plain).digest('hex').slice(0, 16)}"` }
      variants.set(root, variant)
    }
    Object.assign(context.headers, PAGE_HEADERS, { ETag: variant.etag })
    const businessId = readId(context.params['businessId'])
    const data = businessId === null || new URL(context.request.url).search !== '' ? null : dataHints(path, businessId)
    if (data !== null) context.headers['Link'] = data
    if (status === 200 && matchesEtag(headers.get('if-none-match'), variant.etag))
      return new Response(null, { status: 304 })
    const page = await send(variant, context)
    return status === 200 ? page : new Response(page.body, { status })
  }
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Looks the name up among the files of the build, and never makes a path of it. */
function serveAssets(): Route['answer'] {
  const folder = new URL('assets/', BUILT)
  const files = new Map(readdirSync(folder).map((name) => [name, makeServed(readFileSync(new URL(name, folder)))]))
  return async (_, context) => {
    const name = context.params['file'] ?? ''
    const served = files.get(name)
    if (served === undefined) throw new RequestError('not_found')
    Object.assign(context.headers, {
      'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
      // Different content has a different name.
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      'Cross-Origin-Resource-Policy': 'same-origin',
    })
    return send(served, context)
  }
}
