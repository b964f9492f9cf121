/**
 * Sends mails to itself over TLS, on any runtime, and prints each outcome. Arguments: the files of the key and the
 * certificate.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { smtp } from '../../../src/messages/channels/smtp.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import { LOOPBACK_GUARD } from '../../deliveries/delivery-lab.ts'

const [key = '', cert = ''] = process.argv.slice(2)
const outcomes: Record<string, unknown> = {}
const heard: string[] = []
for (const secure of [true, false]) {
  const server = new SMTPServer({
    secure,
    key: readFileSync(key),
    cert: readFileSync(cert),
    onAuth: ({ username = '', password }, session, done) => {
      heard.push(`${username} ${password} ${session.secure}`)
      done(null, { user: username })
    },
  })
  server.on('error', () => undefined)
  server.listen(0)
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  for (const host of ['localhost', '127.0.0.1']) {
    const settings = { host, port, secure, user: 'shop', sender: 'hello@shop.example' }
    const transport = smtp.open(
      { settings, secret: { password: 'open' } },
      { sql: undefined as unknown as Sql, guard: LOOPBACK_GUARD, now: Date.now },
    )
    const message = { language: 'en', subject: 'Hello', text: 'Hello' }
    const of = { messageId: crypto.randomUUID(), businessId: '', channel: 'email' as const, contactId: null }
    const { kind } = await transport.send({ ...of, to: 'ada@example.com', message }, AbortSignal.timeout(10_000))
    outcomes[`${secure ? 'tls' : 'starttls'} ${host}`] = kind
  }
}
process.stdout.write(JSON.stringify({ outcomes, heard }))
process.exit(0)
