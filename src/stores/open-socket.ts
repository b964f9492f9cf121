/** The way to Postgres, for a driver that takes a connection for whole until its socket's end. */
import { Socket } from 'node:net'

/** Of the driver's own options, what says where Postgres is. */
export interface Place {
  host: string[]
  port: number[]
  /** Of a socket in the file system, in place of both. */
  path?: string | false
}

/**
 * Tells of an error together with its end. Between the two postgres.js 3.4.9 gives the connection more queries, and forgets
 * them: they would never settle, or be told of no rows once it is open again (porsager/postgres#1130 is about the same).
 */
class WholeSocket extends Socket {
  /** The driver names them where it tells of the connection, and to TLS. */
  host: string | undefined
  port: number | undefined
  #trouble: Error | undefined

  override emit(event: string | symbol, ...words: unknown[]): boolean {
    if (event === 'error') {
      this.#trouble ??= words[0] as Error
      return true
    }
    if (event === 'close' && this.#trouble) super.emit('error', this.#trouble)
    return super.emit(event, ...words)
  }
}

/** For the driver's option `socket`: one that connects, to each host in turn, and keeps what is written meanwhile. */
export function socketOpener(): (place: Place) => Socket {
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
