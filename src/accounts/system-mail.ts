/**
 * Mail of the installation: invitations, password resets and the figures of boards. It is sent only through
 * SYSTEM_SMTP_URL, never through a channel of a business. Its links start with PUBLIC_URL, never with a header of a
 * request.
 */
import { createTransport } from 'nodemailer'
import type { Config } from '../config.ts'

/**
 * Time limits of nodemailer, in milliseconds. The socket's limit is longer: a server that sends no greeting must not
 * count as one that may have accepted a mail.
 */
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

/** Returns undefined unless SYSTEM_SMTP_URL and PUBLIC_URL are set. */
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
      // Attachments and HTML are never read from a path or an address.
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

/**
 * Returns the address of the dashboard page that redeems the token. In the fragment, the token stays out of logs and of
 * the Referer header.
 */
export const linkUrl = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/$/, '')}/dashboard/link#${token}`
