/** Receives the messages of campaigns: what people really get, independently of the product's records. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface MessageSink {
  url: string
  /** Times of arrival in epoch milliseconds, by message. */
  arrivals: Map<string, number[]>
  close(): Promise<void>
}

export async function openMessageSink(): Promise<MessageSink> {
  const arrivals = new Map<string, number[]>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const messageId = String(request.headers['webhook-id'])
      arrivals.set(messageId, [...(arrivals.get(messageId) ?? []), Date.now()])
      response.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/messages`,
    arrivals,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
