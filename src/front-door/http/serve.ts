/** The HTTP server. This is the only file that depends on the runtime: Bun, Deno or Node. */
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BunFetchHandler, type Server, type ServerOptions, type ServerRequest, serve as listen } from 'srvx'
import { type InFlightCounter, createInFlightCounter } from '../../async/in-flight-counter.ts'
import { explainPortError } from '../../process/explain-port-error.ts'
import { isPlainSegment, isPlainTarget } from './check-path.ts'

export interface ServedApp {
  /** The patterns of all served paths; parameters begin with a colon. */
  paths: readonly string[]
  /** The paths whose answers may take `slowSeconds`. */
  slowPaths?: ReadonlySet<string>
  /** `isPlain`: whether the path, as it was sent, is unambiguous (check-path.ts). */
  fetch(request: Request, isPlain: boolean): Response | Promise<Response>
}

export interface HttpServer {
  url: string
  /** From now on, each answer closes its connection. New connections are still accepted. */
  beginDrain(): void
  /** Accepts no new connections, waits for running requests, and closes the rest after the deadline. */
  close(deadlineMs: number): Promise<void>
}

export interface ListenOptions {
  port: number
  host: string
  /** Shares the port with other front doors, which must also set this. Linux only; Deno needs `--unstable-net`. */
  reusePort: boolean
  /** An idle connection is closed after this time. It must be longer than the longest wait for an answer. */
  idleSeconds: number
  /** The same for requests on slow paths. */
  slowSeconds?: number
}

const LONGEST_IDLE_ON_BUN = 255
/**
 * Bun closes a connection when its headers take longer than 10 s, or when its body is slower than 16 KiB a second. On
 * Node, the next two limits do this. Deno has no such limits.
 */
const HEADERS_MS = 10_000
/** Longer than any body may take (BODY_LIMITS). */
const REQUEST_MS = 150_000
/**
 * Limit of the request line and the headers together. It leaves room for a path that is too long to be answered with an
 * error of ours: beyond this, the runtime answers by itself, without the envelope.
 */
const MAX_HEADER_BYTES = 65_536
/** Time for the last answer to be sent. */
const GRACE_MS = 50
/** Longest wait for the server to close its connections: Deno closes them only when it exits. */
const CUT_MS = 500

/** Rejects when the port is not available. */
export async function serve(
  { paths, slowPaths, fetch }: ServedApp,
  { port, host, reusePort, idleSeconds, slowSeconds = idleSeconds }: ListenOptions,
): Promise<HttpServer> {
  const running = createInFlightCounter()
  let draining = false
  // Only Bun takes this setting here. On Node it is an option of the server, below.
  Reflect.set(http, 'maxHeaderSize', MAX_HEADER_BYTES)
  const answerCall = async (request: Request, isPlain: boolean): Promise<Response> => {
    running.begin()
    try {
      const response = await fetch(request, isPlain)
      // Callers leave a connection after this header. Otherwise they would send requests on it while the server closes.
      if (draining) response.headers.set('Connection', 'close')
      return response
    } finally {
      running.end()
    }
  }
  // On Bun, srvx would define fields on each request, which costs more than to find the route.
  const answerRouted: BunFetchHandler = (request: BunRequest, bun) => {
    request.bunServer = bun
    const { params } = request
    return answerCall(request, params !== undefined && Object.values(params).every(isPlainSegment))
  }
  // Only Bun counts the time until the answer as idle.
  const answerSlow: BunFetchHandler = (request, bun) => {
    bun?.timeout(request, Math.min(Math.max(idleSeconds, slowSeconds), LONGEST_IDLE_ON_BUN))
    return answerRouted(request, bun)
  }
  const server: Server = await open({
    fetch: (request) => answerCall(request, hasPlainPath(request)),
    port,
    hostname: host,
    reusePort,
    // The supervisor handles signals.
    gracefulShutdown: false,
    silent: true,
    // Each route limits the size of its body, once the caller is known.
    bun: {
      idleTimeout: Math.min(idleSeconds, LONGEST_IDLE_ON_BUN),
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      routes: Object.fromEntries(paths.map((path) => [path, slowPaths?.has(path) ? answerSlow : answerRouted])),
    },
    node: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: idleSeconds * 1000,
      connectionsCheckingInterval: 2000,
    },
  })
  return {
    url: (server.url ?? `http://${host}:${port}`).replace(/\/$/, ''),
    beginDrain() {
      draining = true
    },
    async close(deadlineMs) {
      draining = true
      const ended = server.close()
      // An idle connection may stay open for a long time, so this waits only for the answers.
      await within(deadlineMs, Promise.race([ended, untilAnswered(running)]))
      await within(CUT_MS, server.close(true))
    },
  }
}

/** A request that Bun's router has matched. */
interface BunRequest extends Request {
  params?: Record<string, string>
  bunServer?: Parameters<BunFetchHandler>[1]
}

/** Returns the address that the server saw; undefined when the client has disconnected. */
export function addressSeen(request: BunRequest & Pick<ServerRequest, 'ip'>): string | undefined {
  return request.bunServer ? request.bunServer.requestIP(request)?.address : request.ip
}

/**
 * Node and Deno return the request target as it was sent. Bun returns a normalised URL, but its router matches the
 * target as it was sent: the paths that it did not match are those of no route, or in an ambiguous spelling.
 */
function hasPlainPath({ runtime, url }: ServerRequest): boolean {
  return runtime?.name !== 'bun' && isPlainTarget(runtime?.node?.req.url ?? url)
}

async function open(options: ServerOptions & { hostname: string; port: number }): Promise<Server> {
  try {
    return await listen(options).ready()
  } catch (error) {
    throw explainPortError(error, options.hostname, options.port)
  }
}

/** Also waits for requests that still arrive on open connections. */
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
