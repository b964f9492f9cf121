/** Sockets to Postgres for postgres.js, which considers a connection intact until its socket closes. */
import { Socket } from 'node:net'
import { type Host, type Login, primaryFinder } from './find-primary.ts'
import { connectionClosed } from './guard-queries.ts'

/** The address of Postgres, as in the driver's options. */
export interface SocketAddress {
  host: string[]
  port: number[]
  /** Path of a Unix socket, used instead of host and port. */
  path?: string | false
}

/**
 * Emits `error` only together with `close`. Between the two events, postgres.js 3.4.9 gives the connection more queries
 * and loses them: they would never settle, or would return no rows after reconnecting (porsager/postgres#1130).
 *
 * Every close is an error. After one that is none, the driver connects again at once and for ever, and the query that
 * waits for the connection never settles: so close proxies whose Postgres is away.
 */
class WholeSocket extends Socket {
  /** The driver reads host and port for error messages and for TLS. */
  host: string | undefined
  port: number | undefined
  #error: Error | undefined

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error') {
      this.#error ??= args[0] as Error
      return true
    }
    // Over TLS, nobody listens here once the handshake has begun.
    if (event === 'close' && this.listenerCount('error') > 0) super.emit('error', this.#error ?? connectionClosed())
    return super.emit(event, ...args)
  }
}

/**
 * For the driver's `socket` option. Of several hosts, it opens a socket to the primary; to the hosts in rotation while
 * none is found, so that the error shows why. A socket buffers what is written before it is connected.
 */
export function socketOpener(hosts: Host[] = []): (address: SocketAddress & Login) => Promise<Socket> {
  const findPrimary = primaryFinder(hosts)
  let opened = 0
  return async (address) => {
    const socket = new WholeSocket()
    if (address.path) return socket.connect(address.path)
    const { host, port } = await chooseHost(address)
    socket.host = host
    socket.port = port
    return socket.connect(port, host)
  }

  async function chooseHost({ host, port, ...login }: SocketAddress & Login): Promise<Host> {
    const only = { host: host[0] ?? 'localhost', port: port[0] ?? 5432 }
    if (hosts.length === 0) return only
    return (await findPrimary(login)) ?? hosts[opened++ % hosts.length] ?? only
  }
}
