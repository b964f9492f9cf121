/**
 * A stand-in for the service: receives what the script sends, checks it against the wire format, and answers as a test
 * requires.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { findFaults } from './wire-format.ts'

const script = readFileSync(new URL('../../../src/sdk/browser/sluice.js', import.meta.url))

export type Route = 'track' | 'capture' | 'identify'
export type Json = Record<string, unknown>

export interface Sent {
  route: Route
  body: Json
  headers: IncomingMessage['headers']
  /** The status of its answer. */
  status: number
}

export interface Answer {
  status: number
  headers?: Record<string, string>
  /** Accepts the request, and then breaks the connection. */
  broken?: true
}

export interface StubService {
  port: number
  /** In the order of arrival. */
  sent: Sent[]
  /** The `Sec-Purpose` headers of the requests for the script. */
  loads: (string | undefined)[]
  /** All other requested paths. */
  strays: string[]
  /** All violations of the wire format. */
  faults: string[]
  /** Chooses the answers to the next requests. Default: 200. */
  answer: ((sent: Omit<Sent, 'status'>) => Answer | undefined) | undefined
  of(route: Route): Json[]
  /** Returns all accepted items (answered with 200), each with its visitor. */
  hits(): Json[]
  close(): Promise<void>
}

const ROUTES: Record<string, Route> = {
  '/api/sdk/browser/track': 'track',
  '/api/sdk/browser/capture': 'capture',
  '/api/sdk/identify': 'identify',
}
const MAX_BYTES = 65_536

export async function openStubService(): Promise<StubService> {
  const stub: StubService = {
    port: 0,
    sent: [],
    loads: [],
    strays: [],
    faults: [],
    answer: undefined,
    of: (route) => taken(route).map(({ body }) => body),
    hits: () =>
      taken('capture').flatMap(({ body }) =>
        (body['hits'] as Json[]).map((hit) => ({ ...hit, visitorId: body['visitorId'] })),
      ),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  const taken = (route: Route) => stub.sent.filter((sent) => sent.route === route && sent.status === 200)
  const server = createServer((request, response) => {
    serve(stub, request, response).catch((error: unknown) => stub.faults.push(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stub.port = (server.address() as AddressInfo).port
  return stub
}

async function serve(stub: StubService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After')
  const { method, url = '', headers } = request
  if (url === '/sluice.js') {
    stub.loads.push(headers['sec-purpose'] as string | undefined)
    response.setHeader('Content-Type', 'text/javascript')
    return void response.end(script)
  }
  const route = ROUTES[url]
  if (route === undefined) {
    stub.strays.push(url)
    return void response.writeHead(404).end()
  }
  if (method === 'OPTIONS') {
    response.setHeader('Access-Control-Allow-Methods', 'POST')
    response.setHeader('Access-Control-Allow-Headers', 'content-type')
    return void response.writeHead(204).end()
  }
  const raw = await text(request)
  const body = JSON.parse(raw) as Json
  stub.faults.push(...judge(route, raw, body, headers))
  const { status, headers: more = {}, broken } = stub.answer?.({ route, body, headers }) ?? { status: 200 }
  stub.sent.push({ route, body, headers, status: broken ? 0 : status })
  if (broken) return void request.socket.destroy()
  const envelope = status === 200 ? { success: true, message: 'Taken.', data: {} } : { success: false, message: 'No.' }
  response.writeHead(status, { 'Content-Type': 'application/json', ...more }).end(JSON.stringify(envelope))
}

function judge(route: Route, raw: string, body: Json, headers: IncomingMessage['headers']): string[] {
  const bytes = Buffer.byteLength(raw)
  const type = headers['content-type']?.split(';')[0]
  return [
    ...findFaults(route, body),
    ...(bytes > MAX_BYTES ? [`${route}: ${bytes} bytes`] : []),
    ...(type === (route === 'identify' ? 'application/json' : 'text/plain') ? [] : [`${route}: sent as ${type}`]),
    ...(headers['authorization'] === undefined ? [] : [`${route}: with a key`]),
  ]
}
