/** Who is to blame for a refusal: what is done about it depends on that (campaigns, "Channels"). */
import type { SuppressionReason } from './suppression.ts'

/**
 * `recipient`: the address or its person, though not for good: a full mailbox, a phone that is off. `sender`: the business, its account or
 * what it sends. The others suppress the address.
 */
export type Blame = Exclude<SuppressionReason, 'manual'> | 'recipient' | 'sender'

/** Null: the address goes on to get messages. */
export const suppressionOf = (blame: Blame | undefined): Exclude<SuppressionReason, 'manual'> | null =>
  blame === undefined || blame === 'recipient' || blame === 'sender' ? null : blame

/** Enhanced status codes (RFC 3463) of an address that does not exist, or takes no mail for good. */
const HARD_STATUSES = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'])
/** Replies at RCPT that say the same when there is no enhanced code. */
const HARD_REPLIES = new Set(['550', '551', '553'])

export const isHardStatus = (status: string): boolean => HARD_STATUSES.has(status)

export interface SmtpReply {
  /** From its code on, such as `550 5.1.1 no such user`. */
  reply: string
  /** It is the answer to RCPT. */
  isAtRecipient: boolean
}

/** Of a reply that refuses for good. */
export function isHardReply({ reply, isAtRecipient }: SmtpReply): boolean {
  const [, code = '', status] = /^(\d{3})(?!\d)(?:[ -](\d\.\d{1,3}\.\d{1,3})(?!\S))?/.exec(reply.trim()) ?? []
  return status === undefined ? isAtRecipient && HARD_REPLIES.has(code) : isHardStatus(status)
}
