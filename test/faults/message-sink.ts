/** Receives the messages of campaigns: what people really get, independently of the product's records. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openMailServer } from '../messages/channels/mail-server.ts'

export interface MessageSink {
  url: string
  mailPort: number
  /** Times of arrival in epoch milliseconds, by message. */
  arrivals: Map<string, number[]>
  close(): Promise<void>
}

export async function openMessageSink(): Promise<MessageSink> {
  const arrivals = new Map<string, number[]>()
  const note = (messageId: string) => {
    arrivals.set(messageId, [...(arrivals.get(messageId) ?? []), Date.now()])
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      note(String(request.headers['webhook-id']))
      response.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const mails = await openMailServer({
    onData(stream, _, done) {
      let mail = ''
      stream.on('data', (piece: Buffer) => (mail += piece.toString()))
      stream.on('end', () => {
        note(messageOf(mail))
        done()
      })
    },
  })
  return {
    mailPort: mails.port,
    url: `http://127.0.0.1:${port}/messages`,
    arrivals,
    async close() {
      server.closeAllConnections()
      await Promise.all([new Promise((resolve) => server.close(resolve)), mails.close()])
    },
  }
}

/** The `Message-ID` begins with the id of the message. */
const messageOf = (mail: string): string => /^Message-ID: <([^@>]+)@/im.exec(mail)?.[1] ?? 'a mail without an id'
