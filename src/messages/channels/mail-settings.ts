/** Settings of senders, shared by the providers of mail. */
import { Type } from '@sinclair/typebox'
import { type Fault, faultOf } from '../../rules/faults.ts'
import { readMailbox } from '../../rules/messages/mailbox.ts'

export const mailbox = (description: string, example: string) =>
  Type.String({
    // Checked completely by `check`.
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
    maxLength: 500,
    rule: faultOf('', 'mailbox'),
    description,
    examples: [example],
  })

/** Undefined values are left out of the settings. */
export function checkSenders(senders: Record<string, string | undefined>): Fault[] {
  return Object.entries(senders)
    .filter(([, text]) => text !== undefined && readMailbox(text) === null)
    .map(([path]) => faultOf(path, 'mailbox'))
}
