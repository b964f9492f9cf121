/** Sends requests over connections that stay open between them, and reports how each one ended. */
import type { Buffer } from 'node:buffer'
import { type Socket, connect } from 'node:net'

/** `reset`: the connection was accepted, and ended before the whole answer. */
export type Ending = number | 'refused' | 'reset'

export interface KeepAliveClient {
  /** Never rejects. */
  send(request: string): Promise<Ending>
  close(): void
}

/**
 * Leaves a connection after an answer with `Connection: close`, and opens its next one at the next address: a Service of
 * Kubernetes leads callers elsewhere in the same way.
 */
export function createKeepAliveClient(...urls: string[]): KeepAliveClient {
  const addresses = urls.map((url) => new URL(url))
  const idle: { socket: Socket; at: number }[] = []
  let next = 0
  return {
    async send(request) {
      const { socket, at } = idle.shift() ?? { socket: await open(addresses[next]!), at: next }
      if (socket === 'refused') return socket
      const answer = await exchange(socket, request)
      if (answer === 'reset') return answer
      if (answer.keeps) idle.push({ socket, at })
      else socket.destroy()
      if (!answer.keeps && at === next) next = (next + 1) % addresses.length
      return answer.status
    },
    close() {
      for (const { socket } of idle) socket.destroy()
    },
  }
}

function open({ hostname: host, port }: URL): Promise<Socket | 'refused'> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), noDelay: true })
    socket.once('error', () => resolve('refused'))
    socket.once('connect', () => resolve(socket))
  })
}

function exchange(socket: Socket, request: string): Promise<{ status: number; keeps: boolean } | 'reset'> {
  return new Promise((resolve) => {
    let heard = ''
    const onData = (bytes: Buffer) => {
      heard += bytes.toString('latin1')
      const [head = '', body] = heard.split('\r\n\r\n', 2)
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
      if (body === undefined || body.length < length) return
      socket.off('data', onData).off('close', onClose)
      resolve({ status: Number(head.slice(9, 12)), keeps: !/^connection: close/im.test(head) })
    }
    const onClose = () => resolve('reset')
    socket
      .on('data', onData)
      .on('close', onClose)
      .removeAllListeners('error')
      .on('error', () => undefined)
    if (socket.destroyed) return onClose()
    socket.write(request)
  })
}
