/** The settings of senders, which the providers of mail share. */
import { Type } from '@sinclair/typebox'
import { type Fault, faultOf } from '../../rules/faults.ts'
import { readMailbox } from '../../rules/messages/mailbox.ts'

export const mailbox = (description: string, example: string) =>
  Type.String({
    // Checked in full by `check`.
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
    maxLength: 500,
    rule: faultOf('', 'mailbox'),
    description,
    examples: [example],
  })

/** Undefined ones are left out of the settings. */
export function checkSenders(senders: Record<string, string | undefined>): Fault[] {
  return Object.entries(senders)
    .filter(([, text]) => text !== undefined && readMailbox(text) === null)
    .map(([path]) => faultOf(path, 'mailbox'))
}
