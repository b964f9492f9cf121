/** A proxy in front of Postgres that treats the startup parameters of a connection as poolers do. */
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

/** What it does with a parameter: reject the connection, leave the parameter out, or pass it on. */
type Treatment = 'refuse' | 'ignore' | 'pass'

export interface Pooler {
  url: string
  /** Applies to new connections; existing ones are closed. */
  treat(how: (parameter: string) => Treatment): void
  close(): Promise<void>
}

/** Parameters that every pooler takes. */
const PLAIN = new Set(['user', 'database', 'application_name', 'client_encoding'])

export async function startPooler(target: string, how: (parameter: string) => Treatment): Promise<Pooler> {
  const postgres = new URL(target)
  const sockets = new Set<Socket>()
  let treatment = how
  const server = createServer((client) => {
    const upstream = connect(Number(postgres.port), postgres.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.on('data', (bytes) => client.write(bytes))
    client.once('data', (startup: Buffer) => {
      const parameters = readParameters(startup)
      const treated = parameters.map(([name]) => (PLAIN.has(name) ? 'pass' : treatment(name)))
      const refused = parameters[treated.indexOf('refuse')]
      if (refused) return void client.end(errorOf(`unsupported startup parameter: ${refused[0]}`))
      upstream.write(startupOf(parameters.filter((_, at) => treated[at] === 'pass')))
      client.on('data', (bytes) => upstream.write(bytes))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    treat(next) {
      treatment = next
      cut()
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A startup message is its length, the version of the protocol, and texts that end with zero: names and values. */
const HEAD = 8

function readParameters(startup: Buffer): [name: string, value: string][] {
  const texts = startup.subarray(HEAD, startup.readInt32BE(0)).toString().split('\0').slice(0, -2)
  return Array.from({ length: texts.length / 2 }, (_, at) => [texts[2 * at] ?? '', texts[2 * at + 1] ?? ''])
}

function startupOf(parameters: [string, string][]): Buffer {
  const body = Buffer.from(`${parameters.flat().join('\0')}\0\0`)
  const head = Buffer.alloc(HEAD)
  head.writeInt32BE(HEAD + body.length, 0)
  head.writeInt32BE(196_608, 4)
  return Buffer.concat([head, body])
}

function errorOf(message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`)
  const head = Buffer.from('E....')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
