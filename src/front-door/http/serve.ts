/** The one file that knows on what it runs: Bun, Deno or Node. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type BunFetchHandler, type Server, type ServerOptions, type ServerRequest, serve as listen } from 'srvx'
import { type InFlightCounter, createInFlightCounter } from '../../async/in-flight-counter.ts'
import { explainPortError } from '../../process/explain-port-error.ts'
import { isPlainSegment, isPlainTarget } from './check-path.ts'

export interface Served {
  /** The patterns of all paths that are answered; parameters begin with a colon. */
  paths: readonly string[]
  /** `isPlain`: whether the path has one reading, as it was sent (check-path.ts). */
  fetch(request: Request, isPlain: boolean): Response | Promise<Response>
}

export interface Listening {
  url: string
  /** Takes no new connections, lets running requests end, and cuts what is left after the deadline. */
  close(deadlineMs: number): Promise<void>
}

export interface ListenOptions {
  port: number
  host: string
  /** Shared with other front doors, which have to say so as well. Linux divides a port; Deno needs `--unstable-net` for it. */
  reusePort: boolean
  /** A connection on which nothing moves for so long is cut: longer than the longest wait for an answer. */
  idleSeconds: number
}

const LONGEST_IDLE_ON_BUN = 255
/**
 * Bun ends a connection whose headers take longer than 10 s, or whose body comes at less than 16 KiB a second; Node is told to.
 * (Deno has no such limits.)
 */
const HEADERS_MS = 10_000
/** Longer than any body may take (BODY_LIMITS). */
const REQUEST_MS = 150_000
/** For the last answer to leave, and for a server that does not cut: Deno ends its connections with the process. */
const GRACE_MS = 50
const CUT_MS = 500

/** Rejects when the port cannot be had. */
export async function serve(
  { paths, fetch }: Served,
  { port, host, reusePort, idleSeconds }: ListenOptions,
): Promise<Listening> {
  const running = createInFlightCounter()
  let closing = false
  const answerCall = async (request: ServerRequest): Promise<Response> => {
    running.begin()
    try {
      const response = await fetch(request, hasPlainPath(request))
      // Without it Node keeps a busy connection for ever, and callers send on one that is about to end.
      if (closing) response.headers.set('Connection', 'close')
      return response
    } finally {
      running.end()
    }
  }
  // With Bun's own server as a second argument, srvx can say where a request comes from.
  const answerRouted: BunFetchHandler = (request, bun) => (server as Server<BunFetchHandler>).fetch(request, bun)
  const server: Server = await open({
    fetch: answerCall,
    port,
    hostname: host,
    reusePort,
    // Signals belong to the supervisor.
    gracefulShutdown: false,
    silent: true,
    // How large a body may be is said by each route, once the caller is known.
    bun: {
      idleTimeout: Math.min(idleSeconds, LONGEST_IDLE_ON_BUN),
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      routes: Object.fromEntries(paths.map((path) => [path, answerRouted])),
    },
    node: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: idleSeconds * 1000,
      connectionsCheckingInterval: 2000,
    },
  })
  return {
    url: (server.url ?? `http://${host}:${port}`).replace(/\/$/, ''),
    async close(deadlineMs) {
      closing = true
      const ended = server.close()
      // An idle connection may stay open for a long time: what counts is that nobody waits for an answer.
      await within(deadlineMs, Promise.race([ended, untilAnswered(running)]))
      await within(CUT_MS, server.close(true))
    },
  }
}

/**
 * Node and Deno show the target as it was sent. Bun shows the URL that it made of it, but its router matches the target, and
 * gives `params` to requests that it matched.
 */
function hasPlainPath(request: ServerRequest): boolean {
  const { runtime, url } = request
  if (runtime?.name !== 'bun') return isPlainTarget(runtime?.node?.req.url ?? url)
  const { params } = request as { params?: Record<string, string> }
  return params !== undefined && Object.values(params).every(isPlainSegment)
}

async function open(options: ServerOptions & { hostname: string; port: number }): Promise<Server> {
  try {
    return await listen(options).ready()
  } catch (error) {
    throw explainPortError(error, options.hostname, options.port)
  }
}

/** Requests that still come in on open connections are answered too. */
async function untilAnswered(running: InFlightCounter): Promise<void> {
  do {
    await running.whenIdle()
    await sleep(GRACE_MS)
  } while (running.count() > 0)
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const late = new AbortController()
  await Promise.race([work, sleep(ms, undefined, { signal: late.signal }).catch(() => undefined)])
  late.abort()
}
