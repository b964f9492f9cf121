/**
 * Mail of the installation: invitations, password resets and the figures of boards. It goes through SYSTEM_SMTP_URL alone, never through a channel of a
 * business, and its links begin with PUBLIC_URL, never with a header of a request.
 */
import { createTransport } from 'nodemailer'
import type { Config } from '../config.ts'

/** What nodemailer waits for. The socket's is longer: a server that does not greet must not count as one that may have a mail. */
const PATIENCE = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000 }

export interface SystemMail {
  to: string
  subject: string
  text: string
  html?: string
}

export interface SystemMailer {
  /** Rejects with the error of the server. */
  send(mail: SystemMail): Promise<void>
  close(): void
}

/** Undefined until SYSTEM_SMTP_URL and PUBLIC_URL are set. */
export function createSystemMailer(
  config: Pick<Config, 'systemSmtpUrl' | 'systemMailFrom' | 'publicUrl'>,
  patience = PATIENCE,
): SystemMailer | undefined {
  const { systemSmtpUrl, systemMailFrom, publicUrl } = config
  if (systemSmtpUrl === undefined || publicUrl === undefined) return undefined
  const from = systemMailFrom ?? `Sluice <no-reply@${new URL(publicUrl).hostname}>`
  const transport = createTransport(
    { url: systemSmtpUrl, ...patience },
    {
      from,
      // No attachment or HTML is ever read from a path or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
  )
  return {
    async send(mail) {
      await transport.sendMail(mail)
    },
    close: () => transport.close(),
  }
}

/** A page of the dashboard that takes the token. In the fragment, it stays out of logs and of the Referer header. */
export const linkUrl = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/$/, '')}/dashboard/link#${token}`
