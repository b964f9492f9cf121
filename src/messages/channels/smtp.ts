/** Mail through an SMTP server. */
import { type Static, Type } from '@sinclair/typebox'
import { faultOf } from '../../rules/faults.ts'
import { closed } from '../../rules/schemas.ts'
import { composeMail } from './compose-mail.ts'
import { checkSenders, mailbox } from './mail-settings.ts'
import type { Provider } from './provider.ts'
import { createSmtpPool } from './smtp-pool.ts'
import { type SmtpServer, SmtpFailure } from './smtp-session.ts'
import { showWords } from './words.ts'

const TLS_PORT = 465

const Settings = Type.Object(
  {
    host: Type.String({
      pattern: '^([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9a-fA-F:.]{2,45})$',
      rule: faultOf('', 'host_name'),
      description: 'A host name or an IP address.',
      examples: ['smtp.example.com'],
    }),
    port: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 587,
      rule: faultOf('', 'port'),
      description: 'A port from 1 to 65535.',
    }),
    secure: Type.Optional(
      Type.Boolean({
        rule: faultOf('', 'boolean'),
        description:
          'True: encrypted from the start, as on port 465, where it is the default. False: encrypted by STARTTLS if the ' +
          'server offers it; with a user, only then (this machine excepted).',
      }),
    ),
    user: Type.Optional(
      Type.String({
        pattern: '^[^\\x00-\\x1f\\x7f]{1,320}$',
        rule: faultOf('', 'characters', { min: 1, max: 320 }),
        description: 'A name of 1 to 320 characters. Leave it out for a server that needs no password.',
        examples: ['shop'],
      }),
    ),
    sender: mailbox('An address such as `Shop <hello@shop.example>`.', 'Shop <hello@shop.example>'),
    replyTo: Type.Optional(mailbox('Where answers go, if not to the sender.', 'help@shop.example')),
  },
  closed,
)
const Secrets = Type.Object(
  {
    password: Type.Optional(
      Type.String({
        pattern: '^[^\\x00-\\x1f\\x7f]{1,1024}$',
        rule: faultOf('', 'characters', { min: 1, max: 1024 }),
        description: 'Of the user: 1 to 1,024 characters. Never shown.',
        examples: ['secret'],
      }),
    ),
  },
  closed,
)
type SmtpSettings = Static<typeof Settings>

export const smtp: Provider = {
  name: 'smtp',
  channels: ['email'],
  settings: Settings,
  secrets: Secrets,
  complete: completeSettings,
  check(settings, names) {
    const { host, user, sender, replyTo } = settings as SmtpSettings
    const hasPassword = names.includes('password')
    const faults = checkSenders({ sender, replyTo })
    if (!URL.canParse(addressOf(settings as SmtpSettings))) faults.push(faultOf('host', 'host', { host }))
    if (user !== undefined && !hasPassword) faults.push(faultOf('password', 'password_again'))
    if (user === undefined && hasPassword) faults.push(faultOf('user', 'user_with_password'))
    return faults
  },
  targets(settings) {
    const address = addressOf(settings as SmtpSettings)
    return URL.canParse(address) ? [{ path: 'host', url: new URL(address) }] : []
  },
  recipientOf: ({ host, port, user }) => JSON.stringify([host, port, user]),
  replaceSecrets: (_, given) => given,
  open({ settings, secret }, { guard, now }) {
    const { user, sender, replyTo, secure = false } = completeSettings(settings) as SmtpSettings
    const { password = '' } = secret as { password?: string }
    const server: SmtpServer = {
      url: new URL(addressOf(settings as SmtpSettings)),
      isSecure: secure,
      ...(user !== undefined && { login: { user, pass: password } }),
    }
    const pool = createSmtpPool(server, guard)
    const secrets = [password, `\0${user ?? ''}\0${password}`]
    return {
      async send(message, signal) {
        const mail = await composeMail(message, { sender, replyTo, now: now() })
        if (mail === null) return { kind: 'refused', reason: 'it is not an email address', blame: 'recipient' }
        try {
          const { words, providerMessageId } = await pool.send(mail, signal)
          return {
            kind: 'accepted',
            reason: showWords(words, secrets),
            ...(providerMessageId !== undefined && { providerMessageId: showWords(providerMessageId) }),
          }
        } catch (error) {
          if (!(error instanceof SmtpFailure)) throw error
          const { kind, message: words, blame, contact } = error
          return { kind, reason: showWords(words, secrets), ...(blame && { blame }), ...(contact && { contact }) }
        }
      },
      close: () => pool.close(),
    }
  },
}

function completeSettings(settings: Record<string, unknown>): Record<string, unknown> {
  return { ...settings, secure: settings['secure'] ?? settings['port'] === TLS_PORT }
}

/** With `http`, so that all forms of an IP address are read the same way. */
const addressOf = ({ host, port }: SmtpSettings): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`
