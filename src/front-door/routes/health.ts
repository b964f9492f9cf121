/** Endpoints for operators: liveness, readiness and metrics. */
import { hasMetricsToken, isLoopback } from '../../process/metrics-access.ts'
import { RequestError } from '../../errors.ts'
import { TIME_ZONES_VERSION } from '../../rules/time/zones.ts'
import { invalidRequest } from '../http/check-body.ts'
import { urlOf } from '../http/url-of.ts'
import { STREAMS_CLOSED } from '../health/check-readiness.ts'
import { peerAddress } from '../http/client-address.ts'
import type { RequestContext, AppContext, Reply, Route } from '../app-context.ts'
import { observeStores } from '../health/observe-stores.ts'

function getHealth(): Promise<Reply> {
  return Promise.resolve({ message: 'The process is up.', data: {} })
}

/**
 * `?for=traffic` is for load balancers: whether this process can accept an event now, whatever other processes do.
 * Without it, the answer is about the whole installation, for people and alerts.
 */
async function getReadiness(app: AppContext, { request }: RequestContext): Promise<Reply> {
  const purpose = readPurpose(request)
  if (app.draining.begun) throw notReady(['draining'])
  if (purpose === 'traffic') {
    if (!app.submitter.isOpen()) throw notReady([STREAMS_CLOSED])
    return { message: 'Ready for traffic.', data: {} }
  }
  const { blocking, degraded } = await app.readReadiness()
  if (blocking.length === 0) return { message: 'Ready.', data: { degraded, timeZones: TIME_ZONES_VERSION } }
  throw notReady([...blocking, ...degraded])
}

function readPurpose(request: Request): 'traffic' | undefined {
  const [purpose, ...others] = urlOf(request).searchParams.getAll('for')
  if (purpose === undefined) return undefined
  if (purpose === 'traffic' && others.length === 0) return purpose
  throw invalidRequest([{ path: 'for', message: 'for must be traffic, or be left out' }])
}

function notReady(reasons: string[]): RequestError {
  const issues = reasons.map((message) => ({ path: '', message }))
  return new RequestError('unavailable', { message: `Not ready: ${reasons.join('; ')}`, issues })
}

/** Only for loopback, or with METRICS_TOKEN as a bearer token. */
async function getMetrics(app: AppContext, context: RequestContext): Promise<Response> {
  requireMetricsAccess(app, context)
  await observeStores(app)
  app.metrics.inFlight.set(app.inFlight.count)
  const { registry } = app.metrics
  return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } })
}

function requireMetricsAccess({ config }: AppContext, { request }: RequestContext): void {
  if (isLoopback(peerAddress(request), (header) => request.headers.has(header))) return
  const header = request.headers.get('authorization')
  if (header === null)
    throw new RequestError('missing_api_key', {
      message: 'Metrics need a token. Send METRICS_TOKEN as a bearer token.',
    })
  if (!hasMetricsToken(header, config.metricsToken)) {
    throw new RequestError('invalid_api_key', { message: 'The token is not METRICS_TOKEN.' })
  }
}

/** haproxy asks with OPTIONS unless its configuration names another method. */
const probe = (path: string, answer: Route['answer']): Route[] =>
  (['GET', 'OPTIONS'] as const).map((method) => ({ method, path, answer, operation: null, isProbe: true }))

export const healthRoutes: readonly Route[] = [
  ...probe('/healthz', getHealth),
  ...probe('/readyz', getReadiness),
  { method: 'GET', path: '/metrics', answer: getMetrics, operation: null },
]
