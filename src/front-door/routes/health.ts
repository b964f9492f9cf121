/** Endpoints for operators: liveness, readiness and metrics. */
import { hasMetricsToken, isLoopback } from '../../process/metrics-access.ts'
import { RequestError } from '../../errors.ts'
import { TIME_ZONES_VERSION } from '../../rules/time/zones.ts'
import { peerAddress } from '../http/client-address.ts'
import type { RequestContext, AppContext, Reply, Route } from '../app-context.ts'
import { observeStores } from '../health/observe-stores.ts'

function getHealth(): Promise<Reply> {
  return Promise.resolve({ message: 'The process is up.', data: {} })
}

async function getReadiness(app: AppContext): Promise<Reply> {
  const { blocking, degraded } = await app.readReadiness()
  if (blocking.length === 0) return { message: 'Ready.', data: { degraded, timeZones: TIME_ZONES_VERSION } }
  const reasons = [...blocking, ...degraded]
  const issues = reasons.map((message) => ({ path: '', message }))
  throw new RequestError('unavailable', { message: `Not ready: ${reasons.join('; ')}`, issues })
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

export const healthRoutes: readonly Route[] = [
  { method: 'GET', path: '/healthz', answer: getHealth, operation: null },
  { method: 'GET', path: '/readyz', answer: getReadiness, operation: null },
  { method: 'GET', path: '/metrics', answer: getMetrics, operation: null },
]
