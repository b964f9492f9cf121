/** Push messages to browsers (RFC 8030), encrypted for each browser and signed with the key of the business. */
import { type Static, Type } from '@sinclair/typebox'
import { postForReason } from '../../../outbound/post.ts'
import { RefusedTargetError } from '../../../outbound/resolve-target.ts'
import { faultOf } from '../../../rules/faults.ts'
import { closed } from '../../../rules/schemas.ts'
import { type PushSubscription, findPushSubscriptions, removePushSubscriptions } from '../../push/subscriptions.ts'
import { classifyAnswer, classifyFailure } from '../classify-answer.ts'
import type { OutgoingMessage, Provider, SendOutcome } from '../provider.ts'
import { showWords } from '../words.ts'
import { encryptPush } from './encrypt.ts'
import { combineOutcomes } from './combine-outcomes.ts'
import { type VapidKeys, makeVapidKeys, vapidHeader } from './vapid.ts'

const FOUR_WEEKS = 2_419_200
const THREE_DAYS = 259_200

const Settings = Type.Object(
  {
    subject: Type.String({
      pattern: '^(mailto:[^\\s@<>?]{1,64}@[^\\s@<>?]{1,255}|https://[^\\s/@?#]+(/[^\\s#@]*)?)$',
      maxLength: 500,
      rule: faultOf('', 'push_subject'),
      description:
        'Where the operators of push services reach you: `mailto:` and an email address, or an https address.',
      examples: ['mailto:push@shop.example'],
    }),
    ttl: Type.Integer({
      minimum: 0,
      maximum: FOUR_WEEKS,
      default: THREE_DAYS,
      rule: faultOf('', 'whole_number', { min: 0, max: FOUR_WEEKS }),
      description: 'For how many seconds a message waits for a browser that is offline, at most four weeks.',
    }),
    urgency: Type.String({
      pattern: '^(very-low|low|normal|high)$',
      default: 'normal',
      rule: faultOf('', 'one_of', { choices: 'very-low, low, normal, high' }),
      description: '`very-low`, `low`, `normal` or `high`: how much battery of a device a message is worth.',
      examples: ['normal'],
    }),
    icon: Type.Optional(
      Type.String({
        pattern: '^https://[^\\s/@?#]+(/[^\\s#@]*)?$',
        maxLength: 300,
        rule: faultOf('', 'https_address'),
        description: 'The https address of the image beside the text.',
        examples: ['https://shop.example/icon.png'],
      }),
    ),
  },
  closed,
)
const KeySettings = Type.Object(
  { publicKey: Type.String({ description: 'The key that browsers subscribe with: a point of P-256, in base64url.' }) },
  closed,
)
type WebPushSettings = Static<typeof Settings> & Static<typeof KeySettings>

export const webPush: Provider = {
  name: 'webpush',
  channels: ['push'],
  settings: Settings,
  secrets: Type.Object({}, closed),
  keys: {
    settings: KeySettings,
    make() {
      const { publicKey, privateKey } = makeVapidKeys()
      return { settings: { publicKey }, secrets: { privateKey } }
    },
  },
  complete: (settings) => settings,
  check(settings, names) {
    const { subject, icon } = settings as WebPushSettings
    const faults = []
    if (!URL.canParse(subject)) faults.push(faultOf('subject', 'push_subject'))
    if (icon !== undefined && !URL.canParse(icon)) faults.push(faultOf('icon', 'https_address'))
    if (!names.includes('privateKey')) faults.push({ ...faultOf('', 'push_keys_missing'), path: 'provider' })
    return faults
  },
  targets: () => [],
  recipientOf: () => '',
  replaceSecrets: (_, given) => given,
  open({ settings, secret }, { sql, guard, now }) {
    const { subject, ttl, urgency, icon, publicKey } = settings as WebPushSettings
    const keys: VapidKeys = { publicKey, privateKey: String(secret['privateKey']) }

    async function sendTo(subscription: PushSubscription, payload: Buffer, topic: string, signal: AbortSignal) {
      const { endpoint } = subscription
      const headers = {
        authorization: await vapidHeader(keys, { endpoint, subject, now: now() }),
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        ttl: String(ttl),
        urgency,
        topic,
      }
      const body = encryptPush(payload, subscription)
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(ENDPOINT_MS)])
      return classifyResult(endpoint, () => postForReason({ url: endpoint, headers, body }, guard, inTime))
    }

    return {
      async send(outgoing, signal) {
        const { businessId, messageId, to } = outgoing
        if (to === null || !UUID.test(to)) return refuse('it goes to no contact: name one by its ID, as `to`')
        const subscriptions = await findPushSubscriptions(sql, { businessId, contactId: to }).catch(() => null)
        if (subscriptions === null) return UNREAD
        if (subscriptions.length === 0) return refuse('the contact has no browser that takes push messages')
        const payload = payloadOf(outgoing, icon)
        // A repeated attempt replaces a message that the push service still has.
        const topic = messageId.replaceAll('-', '')
        const judged = await Promise.all(subscriptions.map((one) => sendTo(one, payload, topic, signal)))
        const gone = subscriptions.flatMap(({ endpoint }, at) => (judged[at]?.isGone === true ? [endpoint] : []))
        // If this fails, the next message finds them gone again.
        await removePushSubscriptions(sql, businessId, gone).catch(() => undefined)
        return combineOutcomes(judged.map(({ outcome }) => outcome))
      },
      close: () => undefined,
    }
  },
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Nothing was sent yet, so it is tried again. */
const UNREAD: SendOutcome = { kind: 'temporary', reason: 'the browsers of the contact could not be read' }

/**
 * Push services of common browsers. Any page can name another endpoint, so refusals from there say nothing about the
 * business.
 */
const PUSH_SERVICES = /(^|\.)(fcm\.googleapis\.com|push\.services\.mozilla\.com|push\.apple\.com|notify\.windows\.com)$/
/** Per endpoint: one that does not answer must not delay a message for long. */
const ENDPOINT_MS = 8000

const refuse = (reason: string): SendOutcome => ({ kind: 'refused', reason, blame: 'recipient' })

/**
 * The payload that the service worker shows (src/sdk/browser/push-worker.ts). With parts of `MAX_PUSH_BYTES`, it stays
 * within `MAX_PLAINTEXT_BYTES`.
 */
function payloadOf({ messageId, message }: OutgoingMessage, icon: string | undefined): Buffer {
  const { language, title = '', body = '', url } = message
  return Buffer.from(JSON.stringify({ sluice: messageId, title, body, url, icon, lang: language }))
}

interface PushResult {
  outcome: SendOutcome
  isGone: boolean
}

async function classifyResult(endpoint: string, ask: () => ReturnType<typeof postForReason>): Promise<PushResult> {
  try {
    const answer = await ask()
    const isGone = answer.status === 404 || answer.status === 410
    const { reason, ...outcome } = classifyAnswer(answer)
    const said = reason === undefined ? {} : { reason: showWords(reason) }
    const isOfRecipient = isGone || !PUSH_SERVICES.test(new URL(endpoint).hostname)
    return { isGone, outcome: { ...outcome, ...said, ...(isOfRecipient && { blame: 'recipient' as const }) } }
  } catch (error) {
    // The browser named it, not the business.
    if (error instanceof RefusedTargetError) return { isGone: false, outcome: refuse(showWords(error.message)) }
    return { isGone: false, outcome: classifyFailure(error) }
  }
}
