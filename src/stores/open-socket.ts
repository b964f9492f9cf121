/** Sockets to Postgres for postgres.js, which considers a connection intact until its socket closes. */
import { Socket } from 'node:net'

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
    if (event === 'close' && this.#error) super.emit('error', this.#error)
    return super.emit(event, ...args)
  }
}

/**
 * For the driver's `socket` option: opens sockets to the hosts in rotation. A socket buffers what is written before it
 * is connected.
 */
export function socketOpener(): (address: SocketAddress) => Socket {
  let opened = 0
  return ({ host, port, path }) => {
    const socket = new WholeSocket()
    if (path) return socket.connect(path)
    const at = opened++ % host.length
    socket.host = host[at]
    socket.port = port[at]
    return socket.connect(port[at] ?? 5432, host[at] ?? 'localhost')
  }
}
