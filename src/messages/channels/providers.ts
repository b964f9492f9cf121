/** All providers. A provider that is added here can be chosen for its channels. */
import type { MessageChannel } from '../templates/template.ts'
import { meta } from './http/meta.ts'
import { postmark } from './http/postmark.ts'
import { resend } from './http/resend.ts'
import { ses } from './http/ses.ts'
import { twilio } from './http/twilio.ts'
import { log } from './log.ts'
import type { Provider } from './provider.ts'
import { smtp } from './smtp.ts'
import { webPush } from './web-push/web-push.ts'
import { webhook } from './webhook.ts'

export const PROVIDERS: readonly Provider[] = [log, smtp, resend, postmark, ses, twilio, meta, webPush, webhook]
export const DEFAULT_PROVIDER = log

export const providersOf = (channel: MessageChannel): Provider[] =>
  PROVIDERS.filter(({ channels }) => channels.includes(channel))

/** Throws for a name that this version does not know. */
export function requireProvider(name: string): Provider {
  const found = PROVIDERS.find((provider) => provider.name === name)
  if (found === undefined) throw new Error(`there is no provider ${name}`)
  return found
}
