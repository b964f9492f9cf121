/** Receives the mails of the bench, and counts them. */
import type { Sql } from '../../../src/stores/postgres.ts'
import { useMailServer } from '../../campaigns/engine-lab.ts'
import { openMailServer } from '../../messages/channels/mail-server.ts'

export interface MailSink {
  /** Sends the mails of a business here. */
  receive(businessId: string): Promise<void>
  /** Rejects when it has not received exactly the mails that were sent. */
  verify(): Promise<void>
  close(): Promise<void>
}

export async function openMailSink(sql: Sql): Promise<MailSink> {
  let mails = 0
  const server = await openMailServer({
    onData(stream, _, done) {
      stream.resume().on('end', () => {
        mails += 1
        done()
      })
    },
  })
  return {
    receive: (businessId) => useMailServer({ sql }, { now: Date.now }, businessId, server.port),
    async verify() {
      const [{ sent }] = await sql<[{ sent: number }]>`
        select count(*)::int as sent from messages where provider = 'smtp' and state = 'sent'`
      if (sent !== mails) throw new Error(`${sent} mails were sent, and ${mails} arrived`)
    },
    close: () => server.close(),
  }
}
