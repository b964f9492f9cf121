/** Formats a message as a mail (RFC 5322). */
import MailComposer from 'nodemailer/lib/mail-composer'
import { type Mailbox, readAddress, readMailbox } from '../../rules/messages/mailbox.ts'
import type { MailFile, OutgoingMessage } from './provider.ts'
import type { Mail } from './smtp-session.ts'

export interface MailHeaders {
  sender: string
  replyTo: string | undefined
  /** Epoch milliseconds. */
  now: number
}

/** Returns null when it has no recipient. No part is read from a file or a URL, whatever the message contains. */
export async function composeMail(
  { messageId, to, message, headers, replyTo: ownReplyTo, attachments = [] }: OutgoingMessage,
  { sender, replyTo: usualReplyTo, now }: MailHeaders,
): Promise<Mail | null> {
  const from = readMailbox(sender)
  const address = readAddress(to ?? '')
  if (from === null || address === null) return null
  const replyTo = ownReplyTo ?? usualReplyTo
  const answersTo = replyTo === undefined ? null : readMailbox(replyTo)
  const { subject = '', html, text } = message
  const node = new MailComposer({
    from,
    to: { name: '', address },
    ...(answersTo !== null && { replyTo: answersTo }),
    subject,
    ...(html !== undefined && { html }),
    ...(text !== undefined && { text }),
    ...(attachments.length > 0 && { attachments: attachments.map(attachmentOf) }),
    ...(headers !== undefined && { headers: onOneLine(headers) }),
    date: new Date(now),
    messageId: messageIdOf(messageId, from),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  const envelope = node.getEnvelope()
  return { from: String(envelope.from), to: envelope.to, content: await node.build() }
}

/**
 * Long links stay on the line of their header's name: some mail servers sign the header as one line, and their
 * signature would not fit one that is folded after the name. Names and values are ASCII, and below 998 characters.
 */
const onOneLine = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { prepared: true, value }]))

const attachmentOf = ({ filename, contentType, content, contentId }: MailFile) => ({
  filename,
  contentType,
  content,
  ...(contentId !== null && { cid: contentId, contentDisposition: 'inline' as const }),
})

/** The `Message-ID` of a message: its id at the domain of the sender. */
export const messageIdOf = (messageId: string, { address }: Mailbox): string =>
  `<${messageId}@${address.slice(address.lastIndexOf('@') + 1)}>`
