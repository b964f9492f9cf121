/** For operators: is it alive, is it ready, how does it do. */
import { bringsToken, isOfThisMachine } from '../../process/metrics-access.ts'
import { RequestError } from '../../errors.ts'
import { peerAddress } from '../http/client-address.ts'
import type { Call, Door, Reply, Route } from '../app-context.ts'
import { observeStores } from '../health/observe-stores.ts'

function getHealth(): Promise<Reply> {
  return Promise.resolve({ message: 'The process is up.', data: {} })
}

async function getReadiness(door: Door): Promise<Reply> {
  const { blocking, degraded } = await door.readReadiness()
  if (blocking.length === 0) return { message: 'Ready.', data: { degraded } }
  const reasons = [...blocking, ...degraded]
  const issues = reasons.map((message) => ({ path: '', message }))
  throw new RequestError('unavailable', { message: `Not ready: ${reasons.join('; ')}`, issues })
}

/** Loopback, or METRICS_TOKEN as a bearer. */
async function getMetrics(door: Door, call: Call): Promise<Response> {
  refuseStrangers(door, call)
  await observeStores(door)
  door.metrics.inFlight.set(door.inFlight.count)
  const { registry } = door.metrics
  return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } })
}

function refuseStrangers({ config }: Door, { request }: Call): void {
  if (isOfThisMachine(peerAddress(request), (header) => request.headers.has(header))) return
  const header = request.headers.get('authorization')
  if (header === null) throw new RequestError('missing_api_key', { message: 'Metrics need their token.' })
  if (!bringsToken(header, config.metricsToken)) {
    throw new RequestError('invalid_api_key', { message: 'This is not the token of the metrics.' })
  }
}

export const operationRoutes: readonly Route[] = [
  { method: 'GET', path: '/healthz', answer: getHealth, operation: null },
  { method: 'GET', path: '/readyz', answer: getReadiness, operation: null },
  { method: 'GET', path: '/metrics', answer: getMetrics, operation: null },
]
