/** A Redis that a test may kill, empty and restart, and a proxy in front of it that loses replies. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { connectRedis, whenReady } from '../../src/stores/redis.ts'

export interface OwnRedis {
  url: string
  port: number
  /** The directory of its files. */
  folder: string
  /** Kills it as a power cut does. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Deletes everything on its disk. Only while it is killed. */
  empty(): Promise<void>
  close(): Promise<void>
}

/** `more`: options that replace, or are added to, those of a Redis that keeps everything. */
export async function startOwnRedis(more: string[] = []): Promise<OwnRedis> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redis-'))
  let child: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const options = ['--port', String(port), '--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always']
    child = spawn('redis-server', [...options, '--save', '', '--bind', '127.0.0.1', ...more], { stdio: 'ignore' })
    const redis = connectRedis(url, 'command')
    await whenReady(redis)
    redis.disconnect()
  }
  const kill = async (): Promise<void> => {
    if (!child) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    child = undefined
  }
  await start()
  return {
    url,
    port,
    folder,
    start,
    kill,
    empty: () => rm(join(folder, 'appendonlydir'), { recursive: true, force: true }),
    async close() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface Proxy {
  url: string
  /** Drops the next reply and breaks its connection. */
  loseNextReply(): void
  /** Existing connections stay open but carry no more replies, like a link that died silently. */
  stall(): void
  close(): Promise<void>
}

export async function startProxy(target: URL): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const stalled = new WeakSet<Socket>()
  let losing = false
  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname)
    for (const socket of [client, redis]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        redis.destroy()
      })
    }
    client.on('data', (bytes) => redis.write(bytes))
    redis.on('data', (bytes) => {
      if (stalled.has(client)) return
      if (!losing) client.write(bytes)
      else {
        losing = false
        client.destroy()
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    loseNextReply: () => (losing = true),
    stall() {
      for (const socket of sockets) stalled.add(socket)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface Lag {
  url: string
  /** Holds replies from now on. */
  hold(): void
  held(): string
  /** Lets the first held reply through: one line. */
  letOneThrough(): void
  letAllThrough(): void
  close(): Promise<void>
}

/** Opens a proxy to Redis that can delay replies. */
export async function startLag(target: URL): Promise<Lag> {
  const sockets = new Set<Socket>()
  let waiting: { client: Socket; bytes: string }[] = []
  let holding = false
  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname)
    for (const socket of [client, redis]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    client.on('data', (bytes) => redis.write(bytes))
    redis.on('data', (bytes) => {
      if (holding) waiting.push({ client, bytes: bytes.toString('latin1') })
      else client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    hold: () => (holding = true),
    held: () => waiting.map(({ bytes }) => bytes).join(''),
    letOneThrough() {
      const [first, ...rest] = waiting
      const end = (first?.bytes.indexOf('\r\n') ?? -2) + 2
      first?.client.write(first.bytes.slice(0, end), 'latin1')
      waiting = first ? [{ ...first, bytes: first.bytes.slice(end) }, ...rest] : []
    },
    letAllThrough() {
      holding = false
      for (const { client, bytes } of waiting.splice(0)) client.write(bytes, 'latin1')
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
