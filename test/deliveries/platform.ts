/** A test platform: records the requests that it is sent, and answers as the test sets it. */
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Heard {
  path: string
  headers: IncomingMessage['headers']
  body: string
  /** Epoch ms. */
  at: number
}
export type Reply = (response: ServerResponse, heard: Heard) => void

export interface Platform {
  url: string
  heard: Heard[]
  /** Returns the highest number of requests that were being answered at the same time. */
  crowd(): number
  /** How it answers from now on. */
  reply: Reply
  close(): Promise<void>
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const OK = json(200, { events_received: 1, results: [{}] })

export async function openPlatform(reply: Reply = OK): Promise<Platform> {
  const heard: Heard[] = []
  let present = 0
  let crowd = 0
  const server = createServer((request, response) => {
    crowd = Math.max(crowd, (present += 1))
    response.on('close', () => (present -= 1))
    let body = ''
    request.on('data', (bytes: Buffer) => (body += String(bytes)))
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body, at: Date.now() }
      heard.push(one)
      platform.reply(response, one)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const platform: Platform = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    crowd: () => crowd,
    reply,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return platform
}
