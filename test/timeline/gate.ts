import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

/** A proxy to a real server. It can be shut, so that a test can make the server unreachable and bring it back. */
export interface Gate {
  /** The URL of the server through the gate. */
  url: string
  shut(): void
  /** Accepts requests and never answers, like a server behind a dead network. */
  swallow(): void
  /** Answers a GET at once and delays every other request by this time, like a busy server. */
  slow(ms: number): void
  open(): void
  close(): Promise<void>
}

export async function openGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let state: 'open' | 'shut' | 'swallowing' = 'open'
  let delayMs = 0
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((incoming) => {
    track(incoming)
    if (state === 'shut') return void incoming.destroy()
    if (state === 'swallowing') return void incoming.resume()
    const outgoing = connect(Number(port), hostname)
    track(outgoing)
    outgoing.pipe(incoming)
    incoming.on('data', (data: Buffer) => {
      const waits = data.toString('latin1', 0, 4) === 'GET ' ? 0 : delayMs
      setTimeout(() => outgoing.write(data), waits)
    })
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'
  const change = (next: typeof state, ms = 0) => {
    state = next
    delayMs = ms
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    shut: () => change('shut'),
    swallow: () => change('swallowing'),
    slow: (ms) => change('open', ms),
    open: () => change('open'),
    close: async () => {
      change('shut')
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
