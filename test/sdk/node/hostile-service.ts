/**
 * A stand-in for the service that keeps the contract, or breaks it in every way that a network can. It uses raw TCP, so
 * that an answer can be cut anywhere. Like the service, it records each key once.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface Sent {
  event: string
  idempotencyKey: string
  occurredAt?: number | string
  identity: { email?: string; phone?: string; platformCustomerId?: string }
  value?: number
}

export interface Heard {
  /** Counts from 1. */
  number: number
  path: string
  headers: Record<string, string>
  body: Sent & { events: Sent[] }
}

/**
 * Answers on the socket, or does not. `record` does what an honest service does, and returns the `data` of its answer.
 */
export type Behaviour = (socket: Socket, heard: Heard, record: () => object) => void

export interface HostileService {
  url: string
  /** Events in the order in which they were first recorded, including identified people. */
  recorded: Sent[]
  heard: Heard[]
  mostInFlight: number
  /** Chooses the behaviour for the next requests. Default: honest. */
  behave(choose: (heard: Heard) => Behaviour | undefined): void
  /** Returns the number of open connections. */
  connections(): number
  close(): Promise<void>
}

export async function openHostileService(): Promise<HostileService> {
  const sockets = new Set<Socket>()
  const keys = new Set<string>()
  const recorded: Sent[] = []
  const heard: Heard[] = []
  let choose: (heard: Heard) => Behaviour | undefined = () => undefined
  let inFlight = 0

  const recordOne = (sent: Sent): { deduped: boolean } => {
    const deduped = sent.idempotencyKey !== undefined && keys.has(sent.idempotencyKey)
    keys.add(sent.idempotencyKey)
    if (!deduped) recorded.push(sent)
    return { deduped }
  }
  const recordAll = (events: Sent[]): object => {
    const failures = events.flatMap(({ value }, index) => (value === UNLUCKY ? [{ index, error: 'unlucky' }] : []))
    const taken = events.filter(({ value }) => value !== UNLUCKY)
    const deduped = taken.map(recordOne).filter((one) => one.deduped).length
    const warnings = events.flatMap(({ value }, index) => (value === ODD ? [`item ${index}: odd`] : []))
    const counts = { received: events.length, recorded: taken.length - deduped, deduped, failed: failures.length }
    return { ...counts, failures, ...(warnings.length > 0 && { warnings }) }
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    readRequests(socket, (request) => {
      const one: Heard = { ...request, number: heard.length + 1 }
      heard.push(one)
      service.mostInFlight = Math.max(service.mostInFlight, ++inFlight)
      const record = (): object =>
        one.path.endsWith('/batch') ? recordAll(one.body.events) : { event: one.body.event, ...recordOne(one.body) }
      // Later, so that requests that are sent together are seen together.
      setTimeout(() => {
        inFlight--
        ;(choose(one) ?? honest)(socket, one, record)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const service: HostileService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    recorded,
    heard,
    mostInFlight: 0,
    behave(next) {
      choose = next
    },
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return service
}

/** An item of a batch with this value fails; an item with the other value gets a warning. */
export const UNLUCKY = 13
export const ODD = 7

function readRequests(socket: Socket, take: (request: Omit<Heard, 'number'>) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return
      const [first = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n')
      const headers = Object.fromEntries(lines.map(readHeader))
      const [from, to] = [end + 4, end + 4 + Number(headers['content-length'] ?? 0)]
      if (bytes.length < to) return
      const body = JSON.parse(bytes.subarray(from, to).toString()) as Heard['body']
      bytes = bytes.subarray(to)
      take({ path: first.split(' ')[1] ?? '', headers, body })
    }
  })
}

function readHeader(line: string): [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}

const JSON_TYPE = { 'content-type': 'application/json' }

function send(socket: Socket, status: number, headers: Record<string, string>, body: string): void {
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} Said\r\n${head.join('')}\r\n${body}`)
}

export const honest: Behaviour = (socket, _heard, record) =>
  send(socket, 200, JSON_TYPE, JSON.stringify({ success: true, message: 'ok', data: record() }))

/** Refuses, and records nothing unless `recordsFirst` is set. */
export function refuse(status: number, headers: Record<string, string> = {}, recordsFirst = false): Behaviour {
  return (socket, _heard, record) => {
    if (recordsFirst) record()
    const body = { success: false, message: `refused ${status}`, error: { code: `code_${status}` } }
    send(socket, status, { ...JSON_TYPE, ...headers }, JSON.stringify(body))
  }
}

export const queued: Behaviour = (socket, heard, record) => {
  record()
  const data = { queued: true, received: heard.body.events?.length }
  send(socket, 202, JSON_TYPE, JSON.stringify({ success: true, message: 'kept', data }))
}

export const answerWith =
  (status: number, headers: Record<string, string>, body: string): Behaviour =>
  (socket) =>
    send(socket, status, headers, body)

export const hang: Behaviour = () => undefined
export const reset: Behaviour = (socket) => void socket.resetAndDestroy()
export const garbage: Behaviour = (socket) => void socket.end('\u0000\u0001 this is not HTTP\r\n\r\n')

/** The following behaviours record, but their answer does not arrive. */
export const resetAfter: Behaviour = (socket, _heard, record) => {
  record()
  socket.resetAndDestroy()
}
export const half: Behaviour = (socket, _heard, record) => {
  record()
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n'
  socket.end(`${head}{"success":true,"da`)
}
export const cutJson: Behaviour = (socket, _heard, record) => {
  record()
  send(socket, 200, JSON_TYPE, '{"success":true,"data":{"contactId":"x"')
}
/** Sends a byte now and then, without end. */
export const slow: Behaviour = (socket, _heard, record) => {
  record()
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n')
  const drip = setInterval(() => socket.write(' '), 5)
  socket.on('close', () => clearInterval(drip))
}
/** Sends as much as the other side accepts. */
export const huge: Behaviour = (socket, _heard, record) => {
  record()
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', pour)
  pour()
}
