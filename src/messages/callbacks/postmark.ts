/**
 * Webhooks of Postmark (https://postmarkapp.com/developer/webhooks/webhooks-overview), which authenticate with a name
 * and a password.
 */
import type { Blame } from '../../rules/messages/blame.ts'
import type { ReportedState } from '../../rules/messages/message-reports.ts'
import { saysHardBounce } from '../../rules/messages/refused-reply.ts'
import { MESSAGE_FIELD } from '../channels/http/postmark.ts'
import type { ProviderCallbacks } from './callbacks.ts'
import { isSame } from './compare.ts'
import { at, parseJson, textAt, timeAt } from './read-json.ts'

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
    const times = ['DeliveredAt', 'BouncedAt', 'ChangedAt'].map((name) => textAt(event, name))
    const found = {
      messageId: textAt(event, 'Metadata', MESSAGE_FIELD),
      providerMessageId: textAt(event, 'MessageID'),
      address: textAt(event, 'Email') ?? textAt(event, 'Recipient'),
    }
    const changedAt = timeAt(times.find((time) => time !== null) ?? null, receivedAt)
    if (isOptOut(event)) return [{ kind: 'opt_out', method: 'Postmark', at: changedAt, ...found }]
    const of = judge(event)
    const detail = textAt(event, 'Details') ?? textAt(event, 'Description')
    return of === null ? [] : [{ kind: 'report', report: { ...of, at: changedAt }, ...found, detail }]
  },
}

/** Reasons for which Postmark stops sending to an address, other than an opt-out. */
const SUPPRESSIONS: Record<string, { state: ReportedState; blame: Blame }> = {
  HardBounce: { state: 'bounced', blame: 'hard_bounce' },
  SpamComplaint: { state: 'complained', blame: 'complaint' },
}

function judge(event: unknown): { state: ReportedState; blame?: Blame } | null {
  const record = textAt(event, 'RecordType')
  if (record === 'Delivery') return { state: 'delivered' }
  if (record === 'SpamComplaint') return { state: 'complained', blame: 'complaint' }
  if (record === 'Bounce') return judgeBounce(event)
  return isSuppressed(event) ? entryOf(SUPPRESSIONS, textAt(event, 'SuppressionReason')) : null
}

/** Postmark has not judged these itself. */
const UNJUDGED = ['Transient', 'Unknown']

function judgeBounce(event: unknown): { state: ReportedState; blame: Blame } | null {
  const type = textAt(event, 'Type')
  const isHard = type !== null && UNJUDGED.includes(type) && saysHardBounce(textAt(event, 'Details'))
  return entryOf(BOUNCES, isHard ? 'HardBounce' : type)
}

const isSuppressed = (event: unknown): boolean =>
  textAt(event, 'RecordType') === 'SubscriptionChange' && at(event, 'SuppressSending') === true

/** For any other reason, such as `ManualSuppression`. Sending that begins again opts nobody in. */
const isOptOut = (event: unknown): boolean => isSuppressed(event) && judge(event) === null

const entryOf = <Entry>(entries: Record<string, Entry>, name: string | null): Entry | null =>
  name !== null && Object.hasOwn(entries, name) ? (entries[name] ?? null) : null
