/** Decides whether the contract allows an answer to a request, without using the product's code. */
import { Buffer } from 'node:buffer'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { RawAnswer } from '../support/speak-raw.ts'
import { judgeData } from './judge-data.ts'
import type { Endpoint } from './make-bodies.ts'
import type { Callers, FuzzRequest } from './make-requests.ts'
import { type Verdict, isObject, judgeBatch, judgeEvent, judgeIdentify, sent } from './verdict.ts'

/** The contract's list (decisions, "Envelope, errors, headers"). */
const STATUS_OF: Record<string, number> = {
  malformed_json: 400,
  invalid_request: 400,
  identity_required: 400,
  invalid_occurred_at: 400,
  properties_too_large: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  publishable_key: 403,
  business_mismatch: 403,
  business_inactive: 403,
  forged_callback: 403,
  origin_not_allowed: 403,
  business_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
}

/**
 * The expected answer: one of these refusals, or a success that `accepted` checks. `null` when any well-formed answer
 * is allowed.
 */
interface Expectation {
  codes: string[]
  accepted?: (data: Record<string, unknown>, status: number) => string[]
}

/** Returns the faults of the answer in words; empty when there are none. */
export function checkAnswer(request: FuzzRequest, answer: RawAnswer, callers: Callers, now: number): string[] {
  const text = `${answer.body} ${[...answer.headers.values()].join(' ')}`
  const complaints = [...judgeForm(request, answer), ...checkSecrecy(text, callers)]
  if (complaints.length > 0 || request.method === 'HEAD') return complaints
  const expected = expect(request, callers, now)
  if (expected === null || answer.status === 204) return []
  return judgeContent(answer, expected)
}

const headerOf = ({ headers }: FuzzRequest, name: string): string | undefined =>
  headers.find(([sentName]) => sentName.toLowerCase() === name)?.[1].replaceAll(/^[ \t]+|[ \t]+$/g, '')

/** Checks the rules for every answer, whatever the request was. */
function judgeForm(request: FuzzRequest, { status, headers, body }: RawAnswer): string[] {
  const complaints: string[] = []
  const must = (holds: boolean, what: string) => void (holds || complaints.push(what))
  must(status < 500, `the status is ${status}`)
  const id = headerOf(request, 'x-request-id') ?? ''
  const ours = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  const given = headers.get('x-request-id') ?? ''
  must(/^[\x20-\x7e]{1,128}$/.test(id) ? given === id : ours.test(given), `the request id is "${given}"`)
  must(headers.get('x-content-type-options') === 'nosniff', 'the type may be guessed')
  const isOpen = headers.has('access-control-allow-origin')
  const route = routeOf(request)
  if (route === 'track' || route === 'track/batch') must(!isOpen, 'there are CORS headers')
  if (route === 'identify' && ['POST', 'OPTIONS'].includes(request.method)) must(isOpen, 'a page cannot read it')
  must(headers.get('access-control-allow-credentials') === null, 'credentials are allowed')
  if (status === 401) must(headers.get('www-authenticate') === 'Bearer', 'a 401 names no scheme')
  if (status === 405) must((headers.get('allow') ?? '') !== '', 'a 405 names no method')
  if (status === 429) must(/^[1-9]\d*$/.test(headers.get('retry-after') ?? ''), 'a 429 says not when to try again')
  if (request.method === 'HEAD' || status === 204) must(body === '', 'there is a body')
  else if (pathOf(request) === '/' && status === 302)
    must(headers.get('location') === '/dashboard', 'it leads elsewhere')
  else must((headers.get('content-type') ?? '').startsWith('application/json'), 'it is not JSON')
  return complaints
}

/** No answer contains a key, a hash of one, or a place in the code. */
export function checkSecrecy(text: string, callers: Callers): string[] {
  const secrets = [callers.secretKey, callers.publishableKey].flatMap((key) => [key, key.slice(8)])
  const traces = [/\n\s+at /, /\.ts:\d/, /node_modules/, /\/src\//, /postgres:\/\//, /redis:\/\//]
  return [
    ...secrets.filter((secret) => text.includes(secret)).map(() => 'it contains a key'),
    ...traces.filter((trace) => trace.test(text)).map((trace) => `it shows the code: ${trace.source}`),
  ]
}

const pathOf = ({ path }: FuzzRequest): string => path.split('?')[0] ?? ''

function routeOf(request: FuzzRequest): Endpoint | 'elsewhere' | null {
  const bare = pathOf(request)
  const known = /^\/api\/sdk\/(track|track\/batch|identify)$/.exec(bare)?.[1]
  if (known !== undefined) return known as Endpoint
  // The contract does not define which variants of a path are equivalent. The root leads to the dashboard.
  return /^\/(api(\/sdk)?|__proto__)$/.test(bare) ? 'elsewhere' : null
}

const JSON_TYPE = /^application\/json$/i

/** Null: any well-formed answer is allowed. */
function expect(request: FuzzRequest, callers: Callers, now: number): Expectation | null {
  const route = routeOf(request)
  if (route === null) return null
  if (route === 'elsewhere') return { codes: ['not_found'] }
  if (request.method === 'OPTIONS' && route === 'identify') return null
  if (request.method !== 'POST') return { codes: ['method_not_allowed'] }
  const key = keyOf(request, callers)
  if (key === 'invalid') return { codes: ['invalid_api_key'] }
  if (route !== 'identify' && key !== 'secret')
    return { codes: [key === 'none' ? 'missing_api_key' : 'publishable_key'] }
  const media = headerOf(request, 'content-type')?.split(';')[0]?.trim() ?? ''
  const encoding = headerOf(request, 'content-encoding') ?? 'identity'
  if (!JSON_TYPE.test(media)) return { codes: ['unsupported_media_type'] }
  // An empty header means the same as none.
  if (!/^(identity)?$/i.test(encoding)) return { codes: ['unsupported_media_type'] }
  if (encoding === '') return null
  if (request.body.length > (route === 'track/batch' ? 2 ** 25 : 2 ** 18)) return { codes: ['payload_too_large'] }
  return expectOfBody(request, route, key, callers, now)
}

type Key = 'secret' | 'publishable' | 'none' | 'invalid'

function keyOf(request: FuzzRequest, { secretKey, publishableKey }: Callers): Key {
  const header = headerOf(request, 'authorization')
  if (header === undefined) return 'none'
  const key = /^bearer +(\S+)$/i.exec(header)?.[1]
  if (key === secretKey) return 'secret'
  return key === publishableKey ? 'publishable' : 'invalid'
}

function expectOfBody(
  request: FuzzRequest,
  route: Endpoint,
  key: Key,
  callers: Callers,
  now: number,
): Expectation | null {
  const parsed = parse(request.body)
  if (parsed === undefined) return { codes: ['malformed_json'] }
  if (parsed === null) return null
  const { json } = parsed
  const isAsync = key === 'secret' && /(^|[,;])\s*respond-async\s*($|[,;])/i.test(headerOf(request, 'prefer') ?? '')
  if (route === 'identify' && key === 'none') {
    const named = isObject(json) ? sent(json, 'businessId') : undefined
    if (typeof named !== 'string' || named.trim() === '') return { codes: ['invalid_request'] }
    if (named.trim().toLowerCase() !== callers.businessId) return { codes: ['business_not_found'] }
  }
  const verdict = {
    track: () => judgeEvent(json, callers.businessId, now),
    'track/batch': () => judgeBatch(json, callers.businessId),
    identify: () => judgeIdentify(json, callers.businessId, key === 'secret', now),
  }[route]()
  return expectOf(verdict, (data, status) =>
    isAsync && status !== 202 && route !== 'track/batch'
      ? ['respond-async was not honoured']
      : judgeData(
          route,
          { body: json as Record<string, unknown>, data, status, keyed: key === 'secret' },
          callers,
          now,
        ),
  )
}

function expectOf(verdict: Verdict, accepted: Expectation['accepted'] & {}): Expectation | null {
  if (verdict.unsure) return null
  return verdict.faults.size > 0 ? { codes: [...verdict.faults] } : { codes: [], accepted }
}

/**
 * Returns undefined when the bytes are not JSON, and null when they may or may not be accepted as JSON: with a byte
 * order mark.
 */
function parse(bytes: string): { json: unknown } | null | undefined {
  if (bytes.startsWith('\u00EF\u00BB\u00BF')) return null
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'))) }
  } catch {
    return undefined
  }
}

function judgeContent({ status, body }: RawAnswer, { codes, accepted }: Expectation): string[] {
  const content = readEnvelope(status, body)
  if (typeof content === 'string') return [content]
  if ('code' in content) {
    return codes.includes(content.code)
      ? []
      : [`refused as ${content.code}, not as ${codes.join(' or ') || 'nothing: it is good'}`]
  }
  if (accepted === undefined) return [`taken, though it is ${codes.join(' or ')}`]
  return accepted(content.data, status)
}

/** Returns the contents of the envelope, or what is wrong with it. */
function readEnvelope(status: number, body: string): { code: string } | { data: Record<string, unknown> } | string {
  const envelope: unknown = JSON.parse(Buffer.from(body, 'latin1').toString())
  if (!isObject(envelope) || typeof envelope['message'] !== 'string' || envelope['message'] === '') return 'no envelope'
  const { success, data, error } = envelope
  if (success === true) return isObject(data) && [200, 202].includes(status) ? { data } : 'a success of another shape'
  if (success !== false || !isObject(error) || !Value.Check(Failure, envelope)) return 'a failure of another shape'
  const { code } = error as { code: string }
  return STATUS_OF[code] === status ? { code } : `the code ${code} goes with no ${status}`
}

const Issue = Type.Object(
  { path: Type.String({ maxLength: 200 }), message: Type.String({ minLength: 1, maxLength: 500 }) },
  { additionalProperties: false },
)
const Failure = Type.Object(
  {
    success: Type.Literal(false),
    message: Type.String({ minLength: 1, maxLength: 500 }),
    error: Type.Object(
      { code: Type.String(), issues: Type.Optional(Type.Array(Issue, { minItems: 1, maxItems: 600 })) },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
