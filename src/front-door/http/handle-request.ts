/** Wraps every answer: request id, rejection when too many requests are in flight, envelope, metrics, one log line. */
import { RequestError } from '../../errors.ts'
import { errorResponse } from './error-response.ts'
import { clientAddress } from './client-address.ts'
import type { RequestContext, AppContext, Reply, Route } from '../app-context.ts'
import { releaseBodyMemory } from './body-memory.ts'
import { compressText } from './compress-answer.ts'

export interface FramedRoute extends Pick<Route, 'answer' | 'crossOrigin' | 'isCompressed'> {
  /** The path pattern, for metrics and logs: a real path may identify a person. */
  route: string
}

/** Never rejects: every error becomes an answer. */
export async function handleRequest(
  app: AppContext,
  framed: FramedRoute,
  request: Request,
  params: Record<string, string> | undefined,
): Promise<Response> {
  const context = openContext(app, framed, request, params)
  app.inFlight.count += 1
  let response: Response
  try {
    if (app.inFlight.count > app.config.maxInFlight && canOverload(framed.route)) {
      throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
    }
    const reply = await framed.answer(app, context)
    response = framed.isCompressed ? await compressReply(reply, context) : toResponse(reply, context)
  } catch (error) {
    response = await errorResponse(app, context, error)
  }
  app.inFlight.count -= 1
  releaseBodyMemory(app, context)
  context.releaseSlot?.()
  observe(app, framed, context, response.status, performance.now() - context.startedAt)
  return response
}

/** Files and health checks are answered at any load. */
const canOverload = (route: string): boolean => /^\/(api|dashboard\/api|u)\//.test(route)

/** The body quota that all callers without a secret key share. */
const UNKEYED = 'strangers'

function openContext(
  app: AppContext,
  framed: FramedRoute,
  request: Request,
  params: Record<string, string> | undefined,
): RequestContext {
  const requestId = readRequestId(request)
  // Cached, because the server forgets the address when the caller disconnects.
  let address: string | undefined
  return {
    request,
    // Elysia sets no parameters for a path without any.
    params: params ?? {},
    requestId,
    address: () => (address ??= clientAddress(request, app.config)),
    businessId: null,
    keyHint: null,
    body: undefined,
    reply: null,
    rejection: null,
    rejectionCode: '',
    receivedAt: app.now(),
    startedAt: performance.now(),
    headers: framed.crossOrigin
      ? { 'X-Request-Id': requestId, ...COMMON_HEADERS, ...CROSS_ORIGIN_HEADERS }
      : { 'X-Request-Id': requestId, ...COMMON_HEADERS },
    charges: [],
    bodyQuotaKey: UNKEYED,
    bodyBytes: 0,
    releaseSlot: undefined,
  }
}

/** Lets pages read Retry-After. */
const CROSS_ORIGIN_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }

/** Prevents content sniffing, and caching: an answer may contain personal data. */
const COMMON_HEADERS = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' }

/** Returns the caller's id if it is 1 to 128 printable ASCII characters; otherwise a new one. */
function readRequestId(request: Request): string {
  const sent = request.headers.get('x-request-id')
  return sent !== null && /^[\x20-\x7e]{1,128}$/.test(sent) ? sent : crypto.randomUUID()
}

function toResponse(reply: Reply | Response, context: RequestContext): Response {
  if (reply instanceof Response) {
    for (const [name, value] of Object.entries(context.headers))
      if (!reply.headers.has(name)) reply.headers.set(name, value)
    return reply
  }
  context.reply = reply
  const { status = 200, message, data } = reply
  return Response.json({ success: true, message, data }, { status, headers: context.headers })
}

async function compressReply(reply: Reply | Response, context: RequestContext): Promise<Response> {
  if (reply instanceof Response) return toResponse(reply, context)
  context.reply = reply
  const { status = 200, message, data } = reply
  context.headers['Content-Type'] = 'application/json;charset=utf-8'
  const body = await compressText(JSON.stringify({ success: true, message, data }), context)
  return new Response(body, { status, headers: context.headers })
}

/** Other methods are labelled OTHER, so that callers cannot add label values. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

function observe(
  app: AppContext,
  { route }: FramedRoute,
  context: RequestContext,
  status: number,
  elapsedMs: number,
): void {
  const { rejectionCode: code, businessId, requestId } = context
  const method = METHODS.has(context.request.method) ? context.request.method : 'OTHER'
  if (businessId !== null && route.startsWith('/api/')) app.recorder.record(route, context, status, elapsedMs)
  app.metrics.requestSeconds.observe({ route, method, status }, elapsedMs / 1000)
  if (code !== '') app.metrics.requests.countRefusal({ route, method, status, code })
  // A log line per success would cost more than the request. So successes are counted, and logged only at debug level.
  const level = status < 400 ? 'debug' : 'info'
  if (level === 'debug' ? !app.log.isLevelEnabled(level) : !app.mayLogRejection()) return
  const ms = Math.round(elapsedMs * 10) / 10
  const line = { requestId, method, route, status, ...(code && { code }), ...(businessId && { businessId }), ms }
  app.log[level](line, 'answered')
}
