import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

/** A way to a real server that can be shut, so that a test can take the server away and bring it back. */
export interface Gate {
  /** The server's URL by this way. */
  url: string
  shut(): void
  /** Takes what comes and answers nothing, as a server behind a dead network. */
  swallow(): void
  open(): void
  close(): Promise<void>
}

export async function openGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let state: 'open' | 'shut' | 'swallowing' = 'open'
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
    incoming.pipe(outgoing).pipe(incoming)
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'
  const change = (next: typeof state) => {
    state = next
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    shut: () => change('shut'),
    swallow: () => change('swallowing'),
    open: () => change('open'),
    close: async () => {
      change('shut')
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
