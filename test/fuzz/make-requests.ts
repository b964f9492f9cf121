/** Whole requests to the three endpoints: caller, path, method, headers, framing and body. */
import * as fc from 'fast-check'
import { makeBytes } from './damage-json.ts'
import type { Endpoint } from './make-bodies.ts'

/** The callers of the requests. */
export interface Callers {
  businessId: string
  secretKey: string
  publishableKey: string
}

/** One request, as bytes: each character is a byte. */
export interface FuzzRequest {
  method: string
  path: string
  headers: [name: string, value: string][]
  body: string
  /** How the length of the body is sent. */
  framing: 'length' | 'chunks'
}

const ENDPOINTS: Endpoint[] = ['track', 'track/batch', 'identify']
const often = <T>(usual: T, ...others: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12 * others.length, arbitrary: fc.constant(usual) }, ...others)

/** Bytes that a header may contain. */
const headerText = fc.string({
  unit: fc
    .oneof({ weight: 9, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, fc.integer({ min: 0x80, max: 0xff }))
    .map((code) => String.fromCharCode(code)),
  maxLength: 60,
})

function makeAuthorization({ secretKey, publishableKey }: Callers): fc.Arbitrary<string | null> {
  return fc.oneof(
    { weight: 16, arbitrary: fc.constant(`Bearer ${secretKey}`) },
    { weight: 3, arbitrary: fc.constantFrom(`bearer  ${secretKey}`, `BEARER ${secretKey} `) },
    { weight: 2, arbitrary: fc.constant(`Bearer ${publishableKey}`) },
    { weight: 3, arbitrary: fc.constant(null) },
    fc.constantFrom(
      '',
      'Bearer',
      'Bearer ',
      secretKey,
      `Basic ${secretKey}`,
      `Bearer ${secretKey}x`,
      `Bearer ${secretKey.slice(0, -1)}`,
      `Bearer ${secretKey.toUpperCase()}`,
      `Bearer ${secretKey} ${secretKey}`,
      `Bearer ${secretKey}, Bearer ${secretKey}`,
      `Bearer "${secretKey}"`,
      `Bearer sk_live_${'0'.repeat(300)}`,
      'Bearer sk_live_',
      'Digest username="a"',
    ),
    fc.bigInt({ min: 0n, max: 2n ** 192n }).map((n) => `Bearer sk_live_${n.toString(16)}`),
    headerText,
  )
}

const contentType = often<string | null>(
  'application/json',
  fc.constantFrom(
    'Application/JSON; charset=utf-8',
    'application/json;charset=utf-16',
    'application/json ; a=b',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'text/plain',
    'text/html, application/json',
    '',
    null,
  ),
  headerText,
)
const requestId = often<string | null>(
  null,
  fc.constantFrom('order-17', 'x'.repeat(128), 'x'.repeat(129), ' padded ', '~!@#$%^&*()', 'caf\u00E9', ''),
  headerText,
)
const prefer = often<string | null>(
  null,
  fc.constantFrom(
    'respond-async',
    'Respond-Async, wait=5',
    'wait=10;respond-async',
    'respond-asynchronously',
    'return=minimal',
    '',
  ),
)
const encoding = often<string | null>(
  null,
  fc.constantFrom('identity', 'Identity ', 'gzip', 'br', 'deflate, gzip', 'x', ''),
)
const origin = often<string | null>(null, fc.constantFrom('https://shop.example', 'null', '', 'https://[', '*'))
const others = often<[string, string][]>(
  [],
  fc.constantFrom<[string, string][]>(
    [['Accept-Encoding', 'gzip, br, *']],
    [['Accept', 'text/html']],
    [['X-HTTP-Method-Override', 'DELETE']],
    [['X-Forwarded-Host', 'evil.example']],
    [['Forwarded', 'for=127.0.0.1;host=evil']],
    [['Range', 'bytes=0-1']],
    [['If-None-Match', '*']],
    [['Cookie', 'session=a; __proto__=b']],
    [['Expect', '100-continue']],
    [['TE', 'trailers']],
    [['Upgrade', 'h2c']],
    [['Access-Control-Request-Method', 'POST']],
    [['X-Many', 'a'.repeat(12_000)]],
    Array.from({ length: 100 }, (_, at) => [`X-${at}`, String(at)]),
  ),
)

/** Nearly every request has an address of its own, so that limits per address do not hide other faults. */
const address = fc.ipV4()

const method = often('POST', fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'))

function makePath(endpoint: Endpoint): fc.Arbitrary<string> {
  const path = `/api/sdk/${endpoint}`
  return often(
    path,
    fc.constantFrom(
      `${path}?`,
      `${path}?businessId=1&__proto__=2&a[]=3`,
      `${path}?%ff%00%zz`,
      `${path}/`,
      `/${path}`,
      `${path}%00`,
      `${path};a=b`,
      `${path}/../track`,
      path.replace('sdk', '%73dk'),
      path.toUpperCase(),
      `${path}/:id`,
      `${path}/${'a/'.repeat(100)}`,
      `/api/sdk/track/${'x'.repeat(4000)}`,
      '/',
      '/api',
      '/api/sdk',
      '/..%2f..%2fetc/passwd',
      '/__proto__',
      '/%',
    ),
  )
}

export function makeRequest(callers: Callers): fc.Arbitrary<FuzzRequest> {
  return fc.constantFrom(...ENDPOINTS).chain((endpoint) =>
    fc
      .record({
        method,
        path: makePath(endpoint),
        authorization: makeAuthorization(callers),
        contentType,
        encoding,
        requestId,
        prefer,
        origin,
        address,
        others,
        framing: fc.constantFrom<FuzzRequest['framing']>('length', 'length', 'chunks'),
        body: makeBytes(endpoint, callers.businessId),
      })
      .map(({ method, path, framing, body, others, ...named }) => ({
        method,
        path,
        headers: [...others, ...namedHeaders(named)],
        framing,
        body,
      })),
  )
}

const HEADERS = {
  authorization: 'Authorization',
  contentType: 'Content-Type',
  encoding: 'Content-Encoding',
  requestId: 'X-Request-Id',
  prefer: 'Prefer',
  origin: 'Origin',
  address: 'X-Forwarded-For',
}

function namedHeaders(named: Record<keyof typeof HEADERS, string | null>): [string, string][] {
  return Object.entries(named).flatMap(([name, value]) =>
    value === null ? [] : [[HEADERS[name as keyof typeof HEADERS], value] as [string, string]],
  )
}

/** Returns the request as it is sent. The connection ends with the answer. */
export function writeRequest({ method, path, headers, framing, body }: FuzzRequest): string {
  const lines = [...headers, ['Host', 'sluice.example'], ['Connection', 'close']].map(
    ([name, value]) => `${name}: ${value}`,
  )
  const bare = body === '' && (method === 'GET' || method === 'HEAD')
  const lengthLines = bare
    ? []
    : [framing === 'chunks' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`]
  const head = [`${method} ${path} HTTP/1.1`, ...lines, ...lengthLines, '', ''].join('\r\n')
  return head + (framing === 'chunks' && !bare ? inChunks(body) : body)
}

const CHUNK = 1000

function inChunks(body: string): string {
  let text = ''
  for (let at = 0; at < body.length; at += CHUNK) {
    const chunk = body.slice(at, at + CHUNK)
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return `${text}0\r\n\r\n`
}
