/** A proxy for a store that breaks connections between a command and its reply. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export interface CuttingProxy {
  /** The store's URL through this proxy. */
  url: string
  /**
   * Waits for the next bytes from a client that contain this text, even across several pieces. `command` breaks the
   * connection before the last piece is passed on; `reply` passes it on and breaks the connection when the store
   * answers. Resolves when it is done; rejects when no client sends such bytes within `withinMs`.
   */
  cutNext(text: string, before: 'command' | 'reply', withinMs?: number): Promise<void>
  /** Breaks every open connection. */
  cutAll(): void
  /** Resets every open connection, like a middlebox: data in transit is lost, and senders get a reset. */
  resetAll(): void
  /** From now on, passes on what the store says this much later. */
  delay(ms: number): void
  /** Until `mend`: `refuse` breaks all open and new connections; `hang` accepts data but passes none on. */
  cut(how: 'refuse' | 'hang'): void
  mend(): void
  close(): Promise<void>
}

interface Cut {
  text: string
  before: 'command' | 'reply'
  done: () => void
}

const PATIENCE_MS = 30_000
const LONGEST_TEXT = 256

/** Excludes a text that ended before these bytes, because it was sent before it was requested. */
function holds(tail: Buffer, bytes: Buffer, text: string): boolean {
  const overlap = tail.subarray(Math.max(0, tail.length - text.length + 1))
  return Buffer.concat([overlap, bytes]).includes(text)
}

/** `pass`: transforms the store's bytes. */
export async function openCuttingProxy(target: string, pass = (bytes: Buffer): Buffer => bytes): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let next: Cut | undefined
  let isCut: 'refuse' | 'hang' | undefined
  let delayMs = 0

  const server = createServer((client) => {
    if (isCut === 'refuse') return void client.destroy()
    const store = connect(Number(port), hostname)
    let waiting: Cut | undefined
    let tail: Buffer = Buffer.alloc(0)
    const end = (): void => {
      client.destroy()
      store.destroy()
    }
    for (const socket of [client, store]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (bytes: Buffer) => {
      if (isCut) return
      const isMatch = next && holds(tail, bytes, next.text)
      tail = Buffer.concat([tail, bytes]).subarray(-LONGEST_TEXT)
      if (next && isMatch) {
        waiting = next
        next = undefined
        if (waiting.before === 'command') {
          waiting.done()
          return end()
        }
      }
      return void store.write(bytes)
    })
    store.on('data', (bytes: Buffer) => {
      if (isCut) return
      if (!waiting && delayMs > 0) return void setTimeout(() => client.write(pass(bytes)), delayMs)
      if (!waiting) return void client.write(pass(bytes))
      waiting.done()
      return end()
    })
  })
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cutNext: (text, before, withinMs = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          next = undefined
          reject(new Error(`nothing was cut: ${text}`))
        }, withinMs)
        next = {
          text,
          before,
          done: () => {
            clearTimeout(timer)
            resolve()
          },
        }
      }),
    cutAll,
    delay(ms) {
      delayMs = ms
    },
    cut(how) {
      isCut = how
      if (how === 'refuse') cutAll()
    },
    mend() {
      isCut = undefined
      // Connections that hung have lost some of their bytes.
      cutAll()
    },
    resetAll: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    async close() {
      cutAll()
      server.close()
      await once(server, 'close')
    },
  }
}
