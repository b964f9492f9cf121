/** The cause of a refusal, which decides how Sluice reacts (campaigns, "Channels"). */
import type { SuppressionReason } from './suppression.ts'

/**
 * `recipient`: the address or its person, but only temporarily, such as a full mailbox or a phone that is switched off.
 * `sender`: the business, its account or the content that it sends. The other causes suppress the address.
 */
export type Blame = Exclude<SuppressionReason, 'manual'> | 'recipient' | 'sender'

/** Returns null when the address still gets messages. */
export const suppressionOf = (blame: Blame | undefined): Exclude<SuppressionReason, 'manual'> | null =>
  blame === undefined || blame === 'recipient' || blame === 'sender' ? null : blame

/** State of a message that the provider refused permanently. */
export const refusedState = (blame: Blame | undefined): 'bounced' | 'failed' =>
  blame === 'hard_bounce' ? 'bounced' : 'failed'

/** Enhanced status codes (RFC 3463) for addresses that do not exist or permanently accept no mail. */
const HARD_STATUSES = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'])
/** Replies to RCPT with the same meaning, for when there is no enhanced code. */
const HARD_REPLIES = new Set(['550', '551', '553'])

export const isHardStatus = (status: string): boolean => HARD_STATUSES.has(status)

export interface SmtpReply {
  /** The reply, starting with its code, such as `550 5.1.1 no such user`. */
  reply: string
  /** True when it is the answer to RCPT. */
  isAtRecipient: boolean
}

/** Returns whether a permanent refusal means that the address is unusable. */
export function isHardReply({ reply, isAtRecipient }: SmtpReply): boolean {
  const [, code = '', status] = /^(\d{3})(?!\d)(?:[ -](\d\.\d{1,3}\.\d{1,3})(?!\S))?/.exec(reply.trim()) ?? []
  return status === undefined ? isAtRecipient && HARD_REPLIES.has(code) : isHardStatus(status)
}

/** Returns whether an SMTP server refused the user or the password (RFC 4954). `reply`: what the server said. */
export const isLoginRefusal = (reply: string): boolean => /^53[45](?!\d)/.test(reply.trim())
