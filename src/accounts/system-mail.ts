/**
 * Mail of the installation: invitations, password resets and the figures of boards. It goes through SYSTEM_SMTP_URL alone, never through a channel of a
 * business, and its links begin with PUBLIC_URL, never with a header of a request.
 */
import { createTransport } from 'nodemailer'
import type { Config } from '../config.ts'

const TIMEOUT_MS = 15_000

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
): SystemMailer | undefined {
  const { systemSmtpUrl, systemMailFrom, publicUrl } = config
  if (systemSmtpUrl === undefined || publicUrl === undefined) return undefined
  const from = systemMailFrom ?? `Sluice <no-reply@${new URL(publicUrl).hostname}>`
  const times = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS }
  const transport = createTransport(
    { url: systemSmtpUrl, ...times },
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
