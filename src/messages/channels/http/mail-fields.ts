/** Shared by the providers of mail by HTTP. */
import { Type } from '@sinclair/typebox'
import { type Mailbox, readAddress, readMailbox } from '../../../rules/messages/mailbox.ts'
import { messageIdOf } from '../compose-mail.ts'
import { mailbox } from '../mail-settings.ts'
import type { MailFile, OutgoingMessage } from '../provider.ts'

export const senderFields = {
  sender: mailbox('An address such as `Shop <hello@shop.example>`.', 'Shop <hello@shop.example>'),
  replyTo: Type.Optional(mailbox('Where answers go, if not to the sender.', 'help@shop.example')),
}

export interface WrittenMail {
  from: string
  to: string
  replyTo: string | undefined
  /** Includes `List-Unsubscribe` and `Message-ID`. */
  headers: Record<string, string>
  subject: string
  html: string | undefined
  text: string | undefined
  attachments: (Omit<MailFile, 'content'> & { base64: string })[]
}

/** Null when it has no recipient. */
export function writeMail(
  { messageId, to, message, headers = {}, replyTo: ownReplyTo, attachments = [] }: OutgoingMessage,
  { sender, replyTo: usualReplyTo }: { sender: string; replyTo?: string },
): WrittenMail | null {
  const from = readMailbox(sender)
  const address = readAddress(to ?? '')
  if (from === null || address === null) return null
  const replyTo = ownReplyTo ?? usualReplyTo
  const answersTo = replyTo === undefined ? null : readMailbox(replyTo)
  return {
    from: formatMailbox(from),
    to: address,
    replyTo: answersTo === null ? undefined : formatMailbox(answersTo),
    headers: { ...headers, 'Message-ID': messageIdOf(messageId, from) },
    subject: message.subject ?? '',
    html: message.html,
    text: message.text,
    attachments: attachments.map(({ content, ...one }) => ({ ...one, base64: content.toString('base64') })),
  }
}

/** A name has no quotation marks and no backslashes (mailbox.ts). */
export const formatMailbox = ({ name, address }: Mailbox): string => (name === '' ? address : `"${name}" <${address}>`)

export const NO_ADDRESS = { refused: 'it is not an email address' }
