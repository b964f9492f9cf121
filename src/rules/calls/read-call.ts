/** Reads the body of a send call, once its shape was checked. */
import { readDuration } from '../campaigns/read-duration.ts'
import type { Tracking } from '../campaigns/definition.ts'
import { isClean, sanitiseJson } from '../events/text.ts'
import { type Fault, faultOf, moveFault } from '../faults.ts'
import { readIdentity } from '../identity/identity.ts'
import { readLanguage } from '../messages/choose-language.ts'
import { readAddress, readMailbox } from '../messages/mailbox.ts'
import { readId } from '../read-id.ts'
import { type CallTo, MAX_DATA_BYTES, type SendCall } from './call.ts'
import { type SentAttachment, readAttachments } from './read-attachments.ts'

export interface SentTo {
  contactId?: string | undefined
  email?: string | undefined
  phone?: string | number | undefined
  platformCustomerId?: string | number | undefined
}

export interface SentCall {
  to: SentTo
  template: string
  data?: Record<string, unknown> | undefined
  sender?: string | undefined
  language?: string | undefined
  replyTo?: string | undefined
  idempotencyKey?: string | undefined
  attachments?: readonly SentAttachment[] | undefined
  validFor?: string | undefined
  sensitive?: boolean | undefined
  tracking?: boolean | { opens?: boolean | undefined; clicks?: boolean | undefined } | undefined
}

const SHORTEST_MS = 10_000
const LONGEST_MS = 3 * 86_400_000
const USUAL_MS = 86_400_000

/** `country`: that of the business, for national phone numbers. */
export function readCall(sent: SentCall, country: string | null): { call: SendCall } | { faults: Fault[] } {
  const faults: Fault[] = []
  const note = <Read>(read: Read | Fault[]): Read | undefined => {
    if (!Array.isArray(read)) return read
    faults.push(...read)
    return undefined
  }
  const to = note(readTo(sent.to, country))
  const templateId = readId(sent.template)
  if (templateId === null) faults.push(faultOf('template', 'id'))
  const data = note(readData(sent.data ?? {}))
  const language = sent.language === undefined ? null : readLanguage(sent.language)
  if (sent.language !== undefined && language === null) faults.push(faultOf('language', 'language_name'))
  const { sender = null, replyTo = null, idempotencyKey = null, sensitive = false } = sent
  if (replyTo !== null && readMailbox(replyTo) === null) faults.push(faultOf('replyTo', 'mailbox'))
  if (idempotencyKey !== null && !isClean(idempotencyKey)) faults.push(faultOf('idempotencyKey', 'clean_text'))
  const files = readAttachments(sent.attachments ?? [])
  if ('faults' in files) faults.push(...files.faults)
  const validForMs = readValidFor(sent.validFor)
  if (validForMs === null) faults.push(faultOf('validFor', 'valid_for'))
  const isWhole = to !== undefined && templateId !== null && data !== undefined && validForMs !== null
  if (faults.length > 0 || !isWhole || 'faults' in files) return { faults }
  const tracking = trackingOf(sent.tracking)
  const { attachments } = files
  return {
    call: {
      to,
      templateId,
      data,
      sender,
      language,
      replyTo,
      idempotencyKey,
      attachments,
      validForMs,
      sensitive,
      tracking,
    },
  }
}

const KINDS = ['contactId', 'email', 'phone', 'platformCustomerId'] as const

function readTo(sent: SentTo, country: string | null): CallTo | Fault[] {
  const [kind, ...others] = KINDS.filter((one) => sent[one] !== undefined)
  if (kind === undefined || others.length > 0) return [faultOf('to', 'exactly_one', { fields: KINDS.join(', ') })]
  if (kind === 'contactId') {
    const value = readId(sent.contactId)
    return value === null ? [faultOf('to.contactId', 'contact_id')] : { kind, value }
  }
  const { identity, faults } = readIdentity({ [kind]: sent[kind] }, country)
  if (faults.length > 0) return faults.map((fault) => moveFault(fault, `to.${kind}`))
  const value = identity?.[kind]
  // What is a placeholder is not a recipient.
  if (value === undefined) return [faultOf(`to.${kind}`, UNREAD[kind])]
  if (kind === 'email' && readAddress(value) === null) return [faultOf('to.email', 'one_email')]
  if (kind === 'phone' && identity?.phoneRead !== true) return [faultOf('to.phone', 'phone')]
  return { kind, value }
}

const UNREAD = { email: 'one_email', phone: 'phone', platformCustomerId: 'customer_id' } as const

function readData(sent: Record<string, unknown>): Record<string, unknown> | Fault[] {
  const { value, tooDeep } = sanitiseJson(sent)
  if (tooDeep) return [faultOf('data', 'data_too_deep')]
  const data = value as Record<string, unknown>
  // A character has three bytes at most.
  const json = JSON.stringify(data)
  const isTooLarge = json.length > MAX_DATA_BYTES || new TextEncoder().encode(json).length > MAX_DATA_BYTES
  return isTooLarge ? [faultOf('data', 'bytes_up_to', { max: MAX_DATA_BYTES })] : data
}

function readValidFor(text: string | undefined): number | null {
  if (text === undefined) return USUAL_MS
  const ms = readDuration(text)
  return ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS ? ms : null
}

function trackingOf(sent: SentCall['tracking']): Tracking {
  if (typeof sent === 'boolean') return { opens: sent, clicks: sent }
  return { opens: sent?.opens ?? false, clicks: sent?.clicks ?? false }
}

/** Returns the first of the names that the data lack. A name with the value null is there. */
export const missingNames = (names: readonly string[], data: Record<string, unknown>): string[] =>
  names.filter((name) => !Object.hasOwn(data, name))
