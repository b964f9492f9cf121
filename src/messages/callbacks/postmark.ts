/**
 * Webhooks of Postmark (https://postmarkapp.com/developer/webhooks/webhooks-overview), which authenticate with a name
 * and a password.
 */
import type { Blame } from '../../rules/messages/blame.ts'
import type { ReportedState } from '../../rules/messages/message-reports.ts'
import { MESSAGE_FIELD } from '../channels/http/postmark.ts'
import type { ProviderCallbacks } from './callbacks.ts'
import { isSame } from './compare.ts'
import { parseJson, textAt, timeAt } from './read-json.ts'

/** Types of bounces (https://postmarkapp.com/developer/api/bounce-api#bounce-types). Other types are not bounces. */
const BOUNCES: Record<string, { state: ReportedState; blame: Blame }> = {
  HardBounce: { state: 'bounced', blame: 'hard_bounce' },
  BadEmailAddress: { state: 'bounced', blame: 'hard_bounce' },
  SoftBounce: { state: 'bounced', blame: 'recipient' },
  Transient: { state: 'bounced', blame: 'recipient' },
  DnsError: { state: 'bounced', blame: 'recipient' },
  Unknown: { state: 'bounced', blame: 'recipient' },
  SpamComplaint: { state: 'complained', blame: 'complaint' },
  ManuallyDeactivated: { state: 'failed', blame: 'recipient' },
  Blocked: { state: 'failed', blame: 'sender' },
  SpamNotification: { state: 'failed', blame: 'sender' },
  VirusNotification: { state: 'failed', blame: 'sender' },
  DMARCPolicy: { state: 'failed', blame: 'sender' },
  SMTPApiError: { state: 'failed', blame: 'sender' },
}

export const postmarkCallbacks: ProviderCallbacks = {
  verify({ headers }, { settings, secret }) {
    const [user, password] = [settings['webhookUser'], secret['webhookPassword']]
    if (typeof user !== 'string' || typeof password !== 'string') return false
    const expected = Buffer.from(`${user}:${password}`).toString('base64')
    const [, given = ''] = /^Basic +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
    return isSame(given, expected)
  },
  read({ body, receivedAt }) {
    const event = parseJson(body.toString())
    const of = judge(textAt(event, 'RecordType'), textAt(event, 'Type') ?? '')
    if (of === null) return []
    const at = timeAt(textAt(event, 'DeliveredAt') ?? textAt(event, 'BouncedAt'), receivedAt)
    return [
      {
        kind: 'report',
        report: { ...of, at },
        messageId: textAt(event, 'Metadata', MESSAGE_FIELD),
        providerMessageId: textAt(event, 'MessageID'),
        address: textAt(event, 'Email') ?? textAt(event, 'Recipient'),
        detail: textAt(event, 'Details') ?? textAt(event, 'Description'),
      },
    ]
  },
}

function judge(record: string | null, type: string): { state: ReportedState; blame?: Blame } | null {
  if (record === 'Delivery') return { state: 'delivered' }
  if (record === 'SpamComplaint') return { state: 'complained', blame: 'complaint' }
  return record === 'Bounce' && Object.hasOwn(BOUNCES, type) ? (BOUNCES[type] ?? null) : null
}
