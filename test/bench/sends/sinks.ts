/** Receives the messages of the bench, and counts them. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFile } from 'node:fs/promises'
import { secretsKeyFile } from '../../../src/stores/data-dir.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import type { Stack } from '../stack.ts'
import { useChannel } from '../../campaigns/engine-lab.ts'
import { openMailServer } from '../../messages/channels/mail-server.ts'

export interface Sink {
  channel: 'email' | 'webhook'
  /** Sends the messages of a business here. */
  receive(businessId: string): Promise<void>
  /** Rejects when it has not received exactly the messages that were sent. */
  verify(): Promise<void>
  close(): Promise<void>
}

export async function openMailSink({ own: { sql } }: Stack): Promise<Sink> {
  let mails = 0
  const server = await openMailServer({
    onData(stream, _, done) {
      stream.resume().on('end', () => {
        mails += 1
        done()
      })
    },
  })
  const settings = { provider: 'smtp', host: '127.0.0.1', port: server.port, sender: 'Shop <hello@shop.example>' }
  return {
    channel: 'email',
    receive: (businessId) => useChannel(sql, { businessId, channel: 'email' }, settings),
    verify: () => verifySent(sql, 'smtp', mails),
    close: () => server.close(),
  }
}

/** Answers each request after `answerMs`. */
export async function openWebhookSink({ own: { sql }, dataDir }: Stack, answerMs: number): Promise<Sink> {
  let requests = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1
      setTimeout(() => response.end(), answerMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/messages`
  const secretsKey = (await readFile(secretsKeyFile(dataDir), 'utf8')).trim()
  const settings = { provider: 'webhook', url, secret: 'bench-bench-bench-bench' }
  return {
    channel: 'webhook',
    receive: (businessId) => useChannel(sql, { businessId, channel: 'webhook' }, settings, { secretsKey }),
    verify: () => verifySent(sql, 'webhook', requests),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function verifySent(sql: Sql, provider: string, received: number): Promise<void> {
  const [{ sent }] = await sql<[{ sent: number }]>`
    select count(*)::int as sent from messages where provider = ${provider} and state = 'sent'`
  if (sent !== received) throw new Error(`${sent} messages were sent by ${provider}, and ${received} arrived`)
}
