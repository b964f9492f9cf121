/** The one file that knows on what it runs: Bun, Deno or Node. */
import { serve as listen } from 'srvx'

export interface Listening {
  url: string
  /** Takes no new connections, lets running requests end, and cuts what is left after the deadline. */
  close(deadlineMs: number): Promise<void>
}

export interface ListenOptions {
  port: number
  host: string
  /** The caller's address is what the proxy says. */
  trustProxy: boolean
  /** A connection on which nothing moves for so long is cut: longer than the longest wait for an answer. */
  idleSeconds: number
}

const LONGEST_IDLE_ON_BUN = 255

/** Rejects when the port cannot be had. Several front doors share one port where the system can divide it (Linux, but for Deno). */
export async function serve(
  fetch: (request: Request) => Promise<Response>,
  { port, host, trustProxy, idleSeconds }: ListenOptions,
): Promise<Listening> {
  const server = listen({
    fetch,
    port,
    hostname: host,
    trustProxy,
    // Deno still hides it behind a flag.
    reusePort: globalThis.process.platform === 'linux' && !('Deno' in globalThis),
    // Signals belong to the supervisor.
    gracefulShutdown: false,
    silent: true,
    bun: { idleTimeout: Math.min(idleSeconds, LONGEST_IDLE_ON_BUN) },
  })
  await server.ready()
  return {
    url: (server.url ?? `http://${host}:${port}`).replace(/\/$/, ''),
    async close(deadlineMs) {
      const { promise: late, resolve } = Promise.withResolvers<'late'>()
      const timer = setTimeout(() => resolve('late'), deadlineMs)
      const outcome = await Promise.race([server.close(), late])
      clearTimeout(timer)
      if (outcome === 'late') await Promise.race([server.close(true), pause(CUT_MS)])
    },
  }
}

/** Deno cannot cut its connections; the process ends soon anyway. */
const CUT_MS = 500

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
