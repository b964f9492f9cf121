/** For operators: is it alive, is it ready, how does it do. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { RequestError } from '../../errors.ts'
import { checkReadiness } from '../check-readiness.ts'
import { isLoopback } from '../client-address.ts'
import type { Call, Door, Reply, Route } from '../door.ts'
import { observeStores } from '../observe-stores.ts'

function getHealth(): Promise<Reply> {
  return Promise.resolve({ message: 'The process is up.', data: {} })
}

async function getReadiness(door: Door): Promise<Reply> {
  const { blocking, degraded } = await checkReadiness(door)
  if (blocking.length === 0) return { message: 'Ready.', data: { degraded } }
  const issues = blocking.map((message) => ({ path: '', message }))
  throw new RequestError('unavailable', { message: `Not ready: ${blocking.join('; ')}`, issues })
}

/** Loopback, or METRICS_TOKEN as a bearer. What the stores do not tell is left as it was last seen. */
async function getMetrics(door: Door, call: Call): Promise<Response> {
  refuseStrangers(door, call)
  try {
    await observeStores(door)
  } catch (error) {
    door.log.warn({ err: error, requestId: call.requestId }, 'the stores could not be observed')
  }
  const { registry } = door.metrics
  return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } })
}

function refuseStrangers({ config }: Door, { request }: Call): void {
  if (isLoopback(request)) return
  const header = request.headers.get('authorization')
  if (header === null) throw new RequestError('missing_api_key', { message: 'Metrics need their token.' })
  const token = config.metricsToken
  if (token === undefined || !isSame(header, `Bearer ${token}`)) {
    throw new RequestError('invalid_api_key', { message: 'This is not the token of the metrics.' })
  }
}

/** In constant time, whatever the lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

export const operationRoutes: readonly Route[] = [
  { method: 'GET', path: '/healthz', answer: getHealth, operation: null },
  { method: 'GET', path: '/readyz', answer: getReadiness, operation: null },
  { method: 'GET', path: '/metrics', answer: getMetrics, operation: null },
]
