/** The frame around every answer: request id, refusal when too much is in flight, envelope, metrics, one log line. */
import { RequestError } from '../../errors.ts'
import { errorResponse } from './error-response.ts'
import { clientAddress } from './client-address.ts'
import type { RequestContext, AppContext, Reply, Route } from '../app-context.ts'
import { releaseBodyMemory } from './body-memory.ts'

export interface Framed extends Pick<Route, 'answer' | 'crossOrigin'> {
  /** The pattern, for metrics and logs: a path itself may name a person. */
  route: string
}

/** Never rejects: whatever goes wrong becomes an answer. */
export async function handleRequest(
  app: AppContext,
  framed: Framed,
  request: Request,
  params: Record<string, string>,
): Promise<Response> {
  const context = openCall(app, framed, request, params)
  app.inFlight.count += 1
  const response = await answerOrRefuse(app, framed, context)
  app.inFlight.count -= 1
  releaseBodyMemory(app, context)
  context.releaseSlot?.()
  observe(app, framed, context, response.status, performance.now() - context.startedAt)
  return response
}

async function answerOrRefuse(app: AppContext, framed: Framed, context: RequestContext): Promise<Response> {
  try {
    if (app.inFlight.count > app.config.maxInFlight && framed.route.startsWith('/api/')) {
      throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
    }
    return toResponse(await framed.answer(app, context), context)
  } catch (error) {
    return errorResponse(app, context, error)
  }
}

/** The share of the room for bodies that callers without a secret key have together. */
const STRANGERS = 'strangers'

function openCall(app: AppContext, framed: Framed, request: Request, params: Record<string, string>): RequestContext {
  const requestId = readRequestId(request)
  // Of a caller that has gone the server knows no more: it stays who it was.
  let address: string | undefined
  return {
    request,
    params,
    requestId,
    address: () => (address ??= clientAddress(request, app.config)),
    businessId: null,
    rejectionCode: '',
    receivedAt: app.now(),
    startedAt: performance.now(),
    headers: framed.crossOrigin
      ? { 'X-Request-Id': requestId, ...COMMON_HEADERS, ...CROSS_ORIGIN_HEADERS }
      : { 'X-Request-Id': requestId, ...COMMON_HEADERS },
    charges: [],
    bodyQuotaKey: STRANGERS,
    bodyBytes: 0,
    releaseSlot: undefined,
  }
}

/** A page that is told to wait learns for how long. */
const CROSS_ORIGIN_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }

/** Nobody guesses what an answer is, and nobody keeps one: it may be about a person. */
const COMMON_HEADERS = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' }

/** The caller's, when it is 1 to 128 printable ASCII characters; else ours. */
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
  const { status = 200, message, data } = reply
  return Response.json({ success: true, message, data }, { status, headers: context.headers })
}

/** A label takes no word that a caller made up. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

function observe(app: AppContext, { route }: Framed, context: RequestContext, status: number, elapsedMs: number): void {
  const { rejectionCode: code, businessId, requestId } = context
  const method = METHODS.has(context.request.method) ? context.request.method : 'OTHER'
  app.metrics.requestSeconds.observe({ route, method, status }, elapsedMs / 1000)
  if (code !== '') app.metrics.requests.countRefusal({ route, method, status, code })
  // A line for each success would cost more than the request: they are counted, and told at debug level.
  const level = status < 400 ? 'debug' : 'info'
  if (level === 'info' && !app.mayLogRejection()) return
  const ms = Math.round(elapsedMs * 10) / 10
  const line = { requestId, method, route, status, ...(code && { code }), ...(businessId && { businessId }), ms }
  app.log[level](line, 'answered')
}
