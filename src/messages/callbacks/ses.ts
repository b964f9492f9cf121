/** Events of Amazon SES, through Amazon SNS (https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html). */
import type { Blame } from '../../rules/messages/blame.ts'
import type { ReportedState } from '../../rules/messages/message-reports.ts'
import { blameOfReply, saysHardBounce } from '../../rules/messages/refused-reply.ts'
import { SES_TAG } from '../channels/http/ses.ts'
import type { CallbackFact, ProviderCallbacks } from './callbacks.ts'
import { listAt, parseJson, textAt, timeAt } from './read-json.ts'
import { isAmazonAddress, isFromSns } from './sns.ts'

/** Maximum length; Amazon's are shorter. */
const MAX_TOPIC = 512

export const sesCallbacks: ProviderCallbacks = {
  verify: ({ body, receivedAt }, _, deps) => isFromSns(parseJson(body.toString()), deps, receivedAt),
  // Anybody can have topics at Amazon.
  sourceOf({ body }) {
    const topic = textAt(parseJson(body.toString()), 'TopicArn')
    return topic !== null && topic.length <= MAX_TOPIC ? topic : null
  },
  read({ body, receivedAt }) {
    const message = parseJson(body.toString())
    const type = textAt(message, 'Type')
    if (type === 'SubscriptionConfirmation') {
      const url = textAt(message, 'SubscribeURL') ?? ''
      return isAmazonAddress(url) ? [{ kind: 'confirm', url }] : []
    }
    return type === 'Notification' ? readEvent(parseJson(textAt(message, 'Message') ?? ''), receivedAt) : []
  },
}

/** For each type of event, the part with its instant. */
const PARTS: Record<string, string> = {
  Send: 'mail',
  Delivery: 'delivery',
  Bounce: 'bounce',
  Complaint: 'complaint',
  Reject: 'mail',
}

function readEvent(event: unknown, receivedAt: number): CallbackFact[] {
  const type = textAt(event, 'eventType') ?? textAt(event, 'notificationType') ?? ''
  const part = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined
  if (part === undefined) return []
  // The person has moved the mail out of the folder for spam.
  if (type === 'Complaint' && textAt(event, 'complaint', 'complaintFeedbackType') === 'not-spam') return []
  const [recipient] = [
    ...listAt(event, 'bounce', 'bouncedRecipients'),
    ...listAt(event, 'complaint', 'complainedRecipients'),
  ]
  const [to] = listAt(event, 'mail', 'destination')
  const [tag] = listAt(event, 'mail', 'tags', SES_TAG)
  return [
    {
      kind: 'report',
      report: { ...judge(type, event, recipient), at: timeAt(textAt(event, part, 'timestamp'), receivedAt) },
      messageId: typeof tag === 'string' ? tag : null,
      providerMessageId: textAt(event, 'mail', 'messageId'),
      address: textAt(recipient, 'emailAddress') ?? (typeof to === 'string' ? to : null),
      detail: textAt(recipient, 'diagnosticCode') ?? textAt(event, 'reject', 'reason'),
    },
  ]
}

function judge(type: string, event: unknown, recipient: unknown): { state: ReportedState; blame?: Blame } {
  if (type === 'Send') return { state: 'sent' }
  if (type === 'Delivery') return { state: 'delivered' }
  if (type === 'Complaint') return { state: 'complained', blame: 'complaint' }
  if (type === 'Reject') return { state: 'failed', blame: 'sender' }
  if (textAt(event, 'bounce', 'bounceType') !== 'Permanent')
    return { state: 'bounced', blame: saysHardBounce(replyOf(recipient)) ? 'hard_bounce' : 'recipient' }
  const blame = blameOfBounce(recipient)
  return { state: blame === 'sender' ? 'failed' : 'bounced', blame }
}

const FULL = /\b5\.2\.[2-4]\b/

/**
 * `Permanent` is Amazon's own word for an address that accepts no mail, unless the receiving server says that the sender
 * or the content is at fault, or that the mailbox is full.
 */
function blameOfBounce(recipient: unknown): Blame {
  const reply = replyOf(recipient)
  // Amazon does not say which command was answered.
  if (blameOfReply({ reply, isAtRecipient: false }) === 'sender') return 'sender'
  return FULL.test(reply.slice(0, 10)) ? 'recipient' : 'hard_bounce'
}

/** The reply of the receiving server; without one, its status. */
function replyOf(recipient: unknown): string {
  const [, said] = /^smtp; *(\d{3}[ -].*)$/is.exec(textAt(recipient, 'diagnosticCode') ?? '') ?? []
  return said ?? `550 ${textAt(recipient, 'status') ?? ''}`
}
