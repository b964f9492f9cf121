/** Serves the workers' health and metrics over HTTP: /healthz, /readyz, /metrics. */
import { type IncomingMessage, type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hasMetricsToken, isLoopback } from '../src/process/metrics-access.ts'

export interface HealthSources {
  /** Returns the problems as text; empty when all threads are healthy. */
  problems: () => string[]
  /** Returns, as text, the problems that delay work without failing requests. */
  degraded: () => string[]
  /** Returns the metrics in Prometheus' text format. */
  metrics: () => Promise<string>
  /** Callers on other machines need this token for /metrics. */
  metricsToken: string | undefined
}

export interface HealthServer {
  port: number
  close(): Promise<void>
}

interface Page {
  status: number
  text: string
}

/** Port 0 selects a free port. Rejects when the port is taken. */
export async function serveHealth(sources: HealthSources, host: string, port: number): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(sources, request).then(
      ({ status, text }) => response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text),
      () => response.writeHead(500).end('internal\n'),
    )
  })
  await listen(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function answer(sources: HealthSources, request: IncomingMessage): Promise<Page> {
  switch (request.url?.split('?')[0]) {
    case '/healthz':
      return { status: 200, text: 'ok\n' }
    case '/readyz': {
      const problems = sources.problems()
      const lines = [...(problems.length === 0 ? ['ok'] : problems), ...sources.degraded()]
      return { status: problems.length === 0 ? 200 : 503, text: `${lines.join('\n')}\n` }
    }
    case '/metrics':
      return maySeeMetrics(sources, request)
        ? { status: 200, text: await sources.metrics() }
        : { status: 404, text: 'not found\n' }
    default:
      return { status: 404, text: 'not found\n' }
  }
}

/** Allows callers on loopback, and callers with METRICS_TOKEN (decisions, "Reading back"). */
function maySeeMetrics({ metricsToken }: HealthSources, { socket, headers }: IncomingMessage): boolean {
  const local = isLoopback(socket.remoteAddress ?? '', (header) => header in headers)
  return local || hasMetricsToken(headers.authorization, metricsToken)
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
