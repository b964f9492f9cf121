/** Webhooks of Meta's Cloud API (https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks). */
import { createHmac } from 'node:crypto'
import type { ReportedState } from '../../rules/messages/message-reports.ts'
import { isStopButton, readStopWord } from '../../rules/messages/stop-words.ts'
import { metaBlame } from '../channels/http/meta.ts'
import type { CallbackFact, ProviderCallbacks } from './callbacks.ts'
import { isSame } from './compare.ts'
import { at, listAt, parseJson, textAt } from './read-json.ts'

/** A message that is read at once is not reported as delivered. */
const STATES: Record<string, ReportedState> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  failed: 'failed',
}

export const metaCallbacks: ProviderCallbacks = {
  verify({ headers, body }, { secret }) {
    const { appSecret } = secret
    if (typeof appSecret !== 'string') return false
    const signed = createHmac('sha256', appSecret).update(body).digest('hex')
    return isSame(headers.get('x-hub-signature-256') ?? '', `sha256=${signed}`)
  },
  handshake(query, { secret }) {
    const { verifyToken } = secret
    const isRight = typeof verifyToken === 'string' && isSame(query.get('hub.verify_token') ?? '', verifyToken)
    return isRight && query.get('hub.mode') === 'subscribe' ? (query.get('hub.challenge') ?? '') : null
  },
  /** An app has one callback URL for all of its numbers. */
  read({ body, receivedAt }, { settings }) {
    const changes = listAt(parseJson(body.toString()), 'entry').flatMap((entry) => listAt(entry, 'changes'))
    const values = changes.map((change) => at(change, 'value'))
    const own = values.filter((value) => textAt(value, 'metadata', 'phone_number_id') === settings['phoneNumberId'])
    return own.flatMap((value) => [
      ...listAt(value, 'statuses').flatMap((status) => readStatus(status, receivedAt)),
      ...listAt(value, 'messages').flatMap((message) => readReply(message, receivedAt)),
    ])
  },
}

function readStatus(status: unknown, receivedAt: number): CallbackFact[] {
  const name = textAt(status, 'status') ?? ''
  const state = Object.hasOwn(STATES, name) ? STATES[name] : undefined
  if (state === undefined) return []
  const [error] = listAt(status, 'errors')
  const report = { state, at: secondsAt(status, receivedAt) }
  return [
    {
      kind: 'report',
      report: state === 'failed' ? { ...report, blame: metaBlame(at(error, 'code')) } : report,
      messageId: textAt(status, 'biz_opaque_callback_data'),
      providerMessageId: textAt(status, 'id'),
      address: phoneOf(textAt(status, 'recipient_id')),
      detail: textAt(error, 'error_data', 'details') ?? textAt(error, 'title'),
    },
  ]
}

/** The text of a button of a template, or of one in a message or a list. */
const BUTTONS = [
  ['button', 'text'],
  ['button', 'payload'],
  ['interactive', 'button_reply', 'title'],
  ['interactive', 'list_reply', 'title'],
]

function readReply(message: unknown, receivedAt: number): CallbackFact[] {
  const isStop = BUTTONS.some((path) => isStopButton(textAt(message, ...path) ?? ''))
  const word = isStop ? 'stop' : readStopWord(textAt(message, 'text', 'body') ?? '')
  const [address, replyId] = [phoneOf(textAt(message, 'from')), textAt(message, 'id')]
  if (word === null || address === null || replyId === null) return []
  return [{ kind: 'word', word, address, replyId, at: secondsAt(message, receivedAt) }]
}

const phoneOf = (digits: string | null): string | null => digits && `+${digits}`

function secondsAt(value: unknown, instead: number): number {
  const seconds = Number(textAt(value, 'timestamp') ?? NaN)
  return Number.isSafeInteger(seconds) ? seconds * 1000 : instead
}
