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

/** Returns whether an SMTP server refused the user or the password (RFC 4954). `reply`: what the server said. */
export const isLoginRefusal = (reply: string): boolean => /^53[45](?!\d)/.test(reply.trim())
