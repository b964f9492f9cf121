/** Posts the message as JSON to a URL of the business, signed by Standard Webhooks. */
import { type Static, Type } from '@sinclair/typebox'
import { faultOf } from '../../rules/faults.ts'
import { closed } from '../../rules/schemas.ts'
import { postForReason } from '../../outbound/post.ts'
import { signatureHeaders } from '../../outbound/standard-webhooks.ts'
import { classifyAnswer, classifyFailure } from './classify-answer.ts'
import type { Provider } from './provider.ts'
import { showWords } from './words.ts'

/** How long the previous secret signs beside a new one, in milliseconds. */
export const CHANGE_OVER_MS = 86_400_000

const Settings = Type.Object(
  {
    url: Type.String({
      pattern: '^https?://[^\\s/@?#]+(/[^\\s?#@]*)?(\\?[^\\s#]*)?$',
      maxLength: 2048,
      rule: faultOf('', 'http_address'),
      description: 'An http or https address without a password. Redirects are not followed.',
      examples: ['https://crm.example/messages'],
    }),
  },
  closed,
)
const Secrets = Type.Object(
  {
    secret: Type.String({
      pattern: '^[\\x21-\\x7e]{16,256}$',
      rule: faultOf('', 'signing_key', { min: 16, max: 256 }),
      description: 'The key of the signature: 16 to 256 characters, best `whsec_` and base64. Never shown.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
  },
  closed,
)
/** The encrypted secrets. `until`: epoch milliseconds. */
interface Sealed extends Static<typeof Secrets> {
  former?: { secret: string; until: number }
}

export const webhook: Provider = {
  name: 'webhook',
  channels: ['webhook'],
  settings: Settings,
  secrets: Secrets,
  complete: (settings) => settings,
  check({ url }, names) {
    const faults = []
    if (!URL.canParse(String(url))) faults.push(faultOf('url', 'http_address'))
    if (!names.includes('secret')) faults.push(faultOf('secret', 'secret_with_host'))
    return faults
  },
  targets: ({ url }) => (URL.canParse(String(url)) ? [{ path: 'url', url: new URL(String(url)) }] : []),
  recipientOf: ({ url }) => (URL.canParse(String(url)) ? new URL(String(url)).origin : String(url)),
  replaceSecrets(former, given, now) {
    const { secret } = (former ?? {}) as Partial<Sealed>
    const isNew = secret !== undefined && secret !== given['secret']
    return isNew ? { ...given, former: { secret, until: now + CHANGE_OVER_MS } } : { ...former, ...given }
  },
  open({ settings, secret: sealed }, { guard, now }) {
    const { url } = settings as Static<typeof Settings>
    const { secret, former } = sealed as unknown as Sealed
    const secrets = [secret, ...(former ? [former.secret] : [])]
    return {
      async send({ messageId, message }, signal) {
        const body = message.body ?? ''
        const keys = former && now() < former.until ? secrets : [secret]
        const headers = {
          'content-type': 'application/json',
          ...signatureHeaders({ id: messageId, now: now(), body }, keys),
        }
        try {
          const outcome = classifyAnswer(await postForReason({ url, headers, body }, guard, signal))
          return { ...outcome, ...(outcome.reason !== undefined && { reason: showWords(outcome.reason, secrets) }) }
        } catch (error) {
          return classifyFailure(error)
        }
      },
      close: () => undefined,
    }
  },
}
