/** Authenticates calls from pages: they have no secret key, and come from any origin that the business allows. */
import { isbot } from 'isbot'
import { type ErrorCode, RequestError } from '../../errors.ts'
import { originOf } from '../../businesses/settings.ts'
import { trimText } from '../../rules/events/text.ts'
import { type UnkeyedEndpoint, chargeAddress, chargeUnkeyed } from './charge.ts'
import { invalidRequest } from '../http/check-body.ts'
import type { RequestContext, AppContext, Route } from '../app-context.ts'
import { requireUsable } from './authenticate.ts'
import type { Business } from '../../businesses/find-business.ts'
import { type BodyLimit, readJson } from '../http/read-body.ts'
import { readId } from '../../rules/read-id.ts'
import { type ReceivedBody, receiveBody } from '../http/receive-body.ts'
import { isRecord } from '../../rules/is-record.ts'

/** The error codes that any call from a page can get. */
export const PAGE_ERRORS: readonly ErrorCode[] = [
  'invalid_api_key',
  'malformed_json',
  'invalid_request',
  'business_mismatch',
  'business_inactive',
  'business_not_found',
  'origin_not_allowed',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable',
  'outcome_unknown',
]

/**
 * Returns the body of a call from a page, and the business of the page, which a publishable key (`keyHolder`) or the
 * body names. Throws RequestError: those of `receiveBody`, business_not_found, business_inactive, origin_not_allowed,
 * rate_limited.
 */
export async function authenticateBrowser(
  app: AppContext,
  context: RequestContext,
  keyHolder: Business | undefined,
  { endpoint, limit }: { endpoint: UnkeyedEndpoint; limit: BodyLimit },
): Promise<ReceivedBody> {
  if (keyHolder !== undefined) requireUsable(keyHolder)
  await chargeAddress(app, context, endpoint)
  const page = await (keyHolder === undefined
    ? receiveNamed(app, context, limit)
    : receiveBody(app, context, keyHolder, limit))
  refuseForeignOrigin(context, page.business)
  await chargeUnkeyed(app, context, page.business, endpoint)
  return page
}

async function receiveNamed(app: AppContext, context: RequestContext, limit: BodyLimit): Promise<ReceivedBody> {
  const body = await readJson(app, context, limit)
  context.body = body
  return { business: requireUsable(await findNamedBusiness(app, context, body)), body }
}

/**
 * Returns true when the call is ignored because its `User-Agent` is that of a bot or a headless browser. Counts it in a
 * metric.
 */
export function isIgnoredBot(
  app: AppContext,
  { request }: RequestContext,
  { bots }: Business,
  endpoint: UnkeyedEndpoint,
): boolean {
  const found = bots === 'ignore' && isbot(request.headers.get('user-agent'))
  if (found) app.metrics.bots.inc({ route: endpoint })
  return found
}

async function findNamedBusiness(app: AppContext, context: RequestContext, body: unknown): Promise<Business> {
  const sent = isRecord(body) ? body['businessId'] : undefined
  if (typeof sent !== 'string' || trimText(sent) === '') {
    const message = 'businessId is required without an API key: send the id of the business as a string'
    throw invalidRequest([{ path: 'businessId', message }])
  }
  const id = readId(trimText(sent))
  const business = id === null ? null : await app.businesses(id, context.address)
  if (business === null) throw new RequestError('business_not_found')
  context.businessId = business.id
  return business
}

function refuseForeignOrigin(context: RequestContext, { origins }: Business): void {
  if (!isOriginAccepted(origins, context.request.headers.get('origin'))) throw new RequestError('origin_not_allowed')
}

const isOriginAccepted = (origins: string[], origin: string | null): boolean =>
  origins.length === 0 || (origin !== null && origins.includes(origin.toLowerCase()))

/** Explains whether calls from pages of an origin are accepted. `text`: the origin as a person typed it. */
export function explainOrigin(origins: string[], text: string) {
  const origin = originOf(text)
  if (origin === null) return { isAccepted: false, reason: 'not_an_origin', origin, similar: null } as const
  if (origins.length === 0) return { isAccepted: true, reason: 'any_origin', origin, similar: null } as const
  const listed = origins.map((one) => one.toLowerCase())
  if (isOriginAccepted(listed, origin)) return { isAccepted: true, reason: 'listed', origin, similar: null } as const
  const similar = listed.find((one) => bareHost(one) === bareHost(origin)) ?? null
  return { isAccepted: false, reason: 'not_listed', origin, similar } as const
}

/** Returns the host without the parts that people mix up: the scheme, the port, and a leading www. */
const bareHost = (origin: string): string => new URL(origin).hostname.replace(/^www\./, '')

/** Allows pages of any origin to send JSON, without other headers and without credentials. */
export function preflightRoute(path: string): Route {
  return { method: 'OPTIONS', path, answer: preflight, crossOrigin: true, operation: null }
}

function preflight(): Promise<Response> {
  const headers = {
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'content-type',
    'Access-Control-Max-Age': '86400',
  }
  return Promise.resolve(new Response(null, { status: 204, headers }))
}
