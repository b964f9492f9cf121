/** Callbacks and replies from Twilio (https://www.twilio.com/docs/usage/webhooks/messaging-webhooks). */
import { createHmac } from 'node:crypto'
import { type Blame, refusedState } from '../../rules/messages/blame.ts'
import type { ReportedState } from '../../rules/messages/message-reports.ts'
import { type StopWord, readStopWord } from '../../rules/messages/stop-words.ts'
import { MESSAGE_PARAMETER, twilioBlame } from '../channels/http/twilio.ts'
import type { Callback, CallbackFact, ProviderCallbacks } from './callbacks.ts'
import { isSame } from './compare.ts'

const STATES: Record<string, ReportedState> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'bounced',
  failed: 'failed',
}

export const twilioCallbacks: ProviderCallbacks = {
  verify({ url, headers, body }, { secret }) {
    const { authToken } = secret
    const given = headers.get('x-twilio-signature')
    if (typeof authToken !== 'string' || given === null) return false
    const hmac = createHmac('sha1', authToken).update(url + sortedFields(formOf(body)))
    return isSame(given, hmac.digest('base64'))
  },
  read(callback) {
    const form = formOf(callback.body)
    return form.has('MessageStatus') ? readStatus(callback, form) : readReply(callback, form)
  },
  // The answer is empty: Twilio answers STOP, START and HELP itself.
  answer: { type: 'text/xml; charset=utf-8', body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>' },
}

const formOf = (body: Buffer): URLSearchParams => new URLSearchParams(body.toString())

/** Each name and its values, without separators. */
function sortedFields(form: URLSearchParams): string {
  const names = [...new Set(form.keys())].toSorted()
  return names.flatMap((name) => [...new Set(form.getAll(name))].toSorted().map((value) => name + value)).join('')
}

function readStatus({ url, receivedAt }: Callback, form: URLSearchParams): CallbackFact[] {
  const status = form.get('MessageStatus') ?? ''
  const state = Object.hasOwn(STATES, status) ? STATES[status] : undefined
  if (state === undefined) return []
  const code = form.get('ErrorCode')
  const blame = judge(state, code)
  return [
    {
      kind: 'report',
      // Twilio does not report the time.
      report: {
        state: blame === undefined || blame === 'recipient' ? state : refusedState(blame),
        at: receivedAt,
        ...(blame && { blame }),
      },
      messageId: new URL(url).searchParams.get(MESSAGE_PARAMETER),
      providerMessageId: form.get('MessageSid'),
      address: form.get('To'),
      detail: code === null ? null : `error ${code}`,
    },
  ]
}

function judge(state: ReportedState, code: string | null): Blame | undefined {
  if (state !== 'failed' && state !== 'bounced') return undefined
  return twilioBlame(Number(code)) ?? (state === 'failed' ? 'sender' : 'recipient')
}

/** `OptOutType` is present for keywords that the business has chosen itself. */
function readReply({ receivedAt }: Callback, form: URLSearchParams): CallbackFact[] {
  const [address, replyId] = [form.get('From'), form.get('MessageSid')]
  const type = form.get('OptOutType')?.toLowerCase()
  const word: StopWord | null = type === 'stop' || type === 'start' ? type : readStopWord(form.get('Body') ?? '')
  return word === null || !address || !replyId ? [] : [{ kind: 'word', word, address, replyId, at: receivedAt }]
}
