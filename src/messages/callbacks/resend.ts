/** Webhooks of Resend (https://resend.com/docs/webhooks), which Svix signs. */
import { createHmac } from 'node:crypto'
import { keyBytes } from '../../outbound/standard-webhooks.ts'
import type { Blame } from '../../rules/messages/blame.ts'
import type { ReportedState } from '../../rules/messages/message-reports.ts'
import { saysHardBounce } from '../../rules/messages/refused-reply.ts'
import { MESSAGE_TAG } from '../channels/http/resend.ts'
import type { Callback, ProviderCallbacks } from './callbacks.ts'
import { isSame } from './compare.ts'
import { listAt, parseJson, textAt, timeAt } from './read-json.ts'

/** Milliseconds after which a callback may be a repeat by a stranger. */
const MAX_AGE_MS = 300_000

const STATES: Record<string, ReportedState> = {
  'email.sent': 'sent',
  'email.delivered': 'delivered',
  'email.complained': 'complained',
  'email.failed': 'failed',
  'email.suppressed': 'failed',
}

export const resendCallbacks: ProviderCallbacks = {
  verify({ headers, body, receivedAt }, { secret }) {
    const key = secret['webhookSecret']
    const [id, seconds, signatures] = ['svix-id', 'svix-timestamp', 'svix-signature'].map((name) => headers.get(name))
    if (typeof key !== 'string' || !id || !seconds || !signatures || !/^\d{1,12}$/.test(seconds)) return false
    if (Math.abs(receivedAt - Number(seconds) * 1000) > MAX_AGE_MS) return false
    const signed = createHmac('sha256', keyBytes(key)).update(`${id}.${seconds}.`).update(body).digest('base64')
    return signatures.split(' ').some((one) => isSame(one, `v1,${signed}`))
  },
  read({ body, receivedAt }: Callback) {
    const event = parseJson(body.toString())
    const type = textAt(event, 'type') ?? ''
    const of = type === 'email.bounced' ? judgeBounce(event) : classifyEvent(type)
    if (of === null) return []
    const at = timeAt(textAt(event, 'created_at'), receivedAt)
    return [
      {
        kind: 'report',
        report: { ...of, at },
        messageId: textAt(event, 'data', 'tags', MESSAGE_TAG) ?? tagInList(event),
        providerMessageId: textAt(event, 'data', 'email_id'),
        address: firstText(listAt(event, 'data', 'to')),
        detail: textAt(event, 'data', 'bounce', 'message') ?? textAt(event, 'data', 'failed', 'reason'),
      },
    ]
  },
}

type ClassifiedEvent = { state: ReportedState; blame?: Blame } | null

function classifyEvent(type: string): ClassifiedEvent {
  const state = Object.hasOwn(STATES, type) ? STATES[type] : undefined
  if (state === undefined) return null
  if (state === 'complained') return { state, blame: 'complaint' }
  if (state === 'failed') return { state, blame: type === 'email.failed' ? 'sender' : 'recipient' }
  return { state }
}

/** `Permanent` is Resend's word for an address that accepts no mail. The code of the receiving server says it as well. */
function judgeBounce(event: unknown): ClassifiedEvent {
  const [type, message] = ['type', 'message'].map((name) => textAt(event, 'data', 'bounce', name))
  const isHard = type === 'Permanent' || saysHardBounce(message ?? null)
  return { state: 'bounced', blame: isHard ? 'hard_bounce' : 'recipient' }
}

/** Tags are an object; they used to be a list. */
const tagInList = (event: unknown): string | null =>
  textAt(
    listAt(event, 'data', 'tags').find((tag) => textAt(tag, 'name') === MESSAGE_TAG),
    'value',
  )

const firstText = ([first]: unknown[]): string | null => (typeof first === 'string' ? first : null)
