/** Records a send call: one transactional message, which the engine then sends. */
import { uuidv7 } from 'uuidv7'
import { addressOf } from '../campaigns/engine/claim/read-move-facts.ts'
import { loadSender } from '../messages/channels/channels.ts'
import { hashAddress } from '../messages/suppressions/hash-address.ts'
import { findSuppressed } from '../messages/suppressions/find-suppressed.ts'
import { type MessageKey, loadMessageKey } from '../messages/message-key.ts'
import { type CallTo, type SendCall, channelFault } from '../rules/calls/call.ts'
import { missingNames } from '../rules/calls/read-call.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { chooseLanguage } from '../rules/messages/choose-language.ts'
import type { AddressChannel } from '../rules/messages/suppression.ts'
import type { Sql } from '../stores/postgres.ts'
import { beforeChange } from '../stores/transaction.ts'
import type { CallBacklog } from './backlog.ts'
import { hashCallKey } from './call-key.ts'
import { type CallState, findKnownCall } from './find-known-call.ts'
import { findCallContact } from './find-call-contact.ts'
import { type CallTemplate, loadCallTemplate } from './load-call-template.ts'
import { type Recipient, loadRecipients } from './load-recipients.ts'
import { type NewCall, storeCall } from './store-call.ts'

export interface RecordDeps {
  sql: Sql
  backlog: CallBacklog
  /** Takes one message of an address in an hour. */
  limitAddress: (businessId: string, addressHash: string) => Promise<AddressGrant>
  /** Epoch milliseconds. */
  now: () => number
}

/** `retryAfter`: seconds until the address may get another one. */
export type AddressGrant = { allowed: true; giveBack: () => void } | { allowed: false; retryAfter: number }

export type CallRecorded =
  | { kind: 'recorded'; message: CallState; deduped: boolean; warnings: string[] }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'no_template' | 'no_contact' | 'backlog' }
  | { kind: 'address_limit'; retryAfter: number }

/** A contact that was merged while the call was being recorded is looked up again. */
const MOST_LOOKS = 5
/** What a message takes in the backlog, beside its data and files. */
const ROW_BYTES = 1024

/** `messageId`: of the message, unless the key is known. */
export async function recordCall(
  deps: RecordDeps,
  businessId: string,
  call: SendCall,
  messageId = uuidv7(),
): Promise<CallRecorded> {
  const bytes = bytesOf(call)
  for (let looks = 1; ; looks += 1) {
    const prepared = await beforeChange(() => prepareCall(deps, { businessId, call, bytes }))
    if (prepared.kind !== 'prepared') return prepared
    const { stored, giveBack } = prepared
    const one: NewCall = { ...stored, businessId, messageId, call, bytes, now: deps.now() }
    const outcome = await storeCall(deps.sql, one).catch((error: unknown) => {
      giveBack()
      throw error
    })
    if (outcome === 'stored') {
      if (one.skipped === null) deps.backlog.add(businessId, bytes)
      const state = one.skipped === null ? 'queued' : 'skipped'
      return { kind: 'recorded', message: { messageId, state, reason: one.skipped }, deduped: false, warnings: [] }
    }
    giveBack()
    if (looks === MOST_LOOKS) throw new Error(`a call could not be recorded: its contact or its key is ${outcome}`)
  }
}

type PreparedCall =
  | {
      kind: 'prepared'
      stored: Omit<NewCall, 'businessId' | 'messageId' | 'call' | 'bytes' | 'now'>
      giveBack: () => void
    }
  | CallRecorded

/** Everything that the call does before its message is stored. */
async function prepareCall(
  { sql, backlog, limitAddress }: RecordDeps,
  { businessId, call, bytes }: { businessId: string; call: SendCall; bytes: number },
): Promise<PreparedCall> {
  const messageKey = await loadMessageKey(sql)
  const { templateId, idempotencyKey, to } = call
  const key = idempotencyKey === null ? null : hashCallKey(messageKey, businessId, idempotencyKey, to)
  const known = key && (await findKnownCall(sql, { businessId, templateId }, key))
  if (known) return repeated(known)
  if (!(await backlog.hasRoom(businessId, bytes))) return { kind: 'backlog' }
  const prepared = await prepare(sql, messageKey, { businessId, call })
  if (prepared.kind !== 'prepared') return prepared
  const { stored, channel } = prepared
  const { address } = stored
  const hash = address && hashAddress(messageKey, businessId, { channel: channel as AddressChannel, address })
  const grant = hash === null ? null : await limitAddress(businessId, hash)
  if (grant?.allowed === false) return { kind: 'address_limit', retryAfter: grant.retryAfter }
  return { kind: 'prepared', stored: { ...stored, key }, giveBack: () => grant?.giveBack() }
}

const repeated = ({ differences, ...message }: CallState & { differences: string[] }): CallRecorded => ({
  kind: 'recorded',
  message,
  deduped: true,
  warnings: differences.map((field) => `${field} was ignored: the first call with this idempotencyKey had another one`),
})

const bytesOf = ({ data, attachments }: SendCall): number =>
  ROW_BYTES + JSON.stringify(data).length + attachments.reduce((sum, { content }) => sum + content.byteLength, 0)

type Prepared =
  | {
      kind: 'prepared'
      channel: CallTemplate['channel']
      stored: Pick<NewCall, 'template' | 'contactId' | 'recipient' | 'address' | 'skipped' | 'options'>
    }
  | Exclude<CallRecorded, { kind: 'recorded' | 'backlog' | 'address_limit' }>

/** Finds the template, the contact and the address, and the faults of the call with them. */
async function prepare(
  sql: Sql,
  messageKey: MessageKey,
  { businessId, call }: { businessId: string; call: SendCall },
): Promise<Prepared> {
  const { to } = call
  const template = await loadCallTemplate(sql, businessId, call.templateId)
  if (template === null) return { kind: 'no_template' }
  const fault = channelFaultOf(to, template)
  if (fault !== null) return { kind: 'faults', faults: [fault] }
  const { channel } = template
  const contactId = await findCallContact(sql, businessId, to)
  const key = contactId === null ? null : { businessId, contactId, needsPush: channel === 'push' }
  const [contact = null] = key === null ? [] : await loadRecipients(sql, [key])
  if (contact === null && (to.kind === 'contactId' || to.kind === 'platformCustomerId')) return { kind: 'no_contact' }
  const language = chooseLanguage(
    call.language ?? contact?.language ?? null,
    Object.keys(template.dataNames),
    template.defaultLanguage,
  )
  const faults = [...checkFields(call, template), ...checkNames(call, template, language)]
  if (faults.length > 0) return { kind: 'faults', faults }
  const unknown = call.sender !== null && (await loadSender(sql, { businessId, channel, sender: call.sender })) === null
  if (unknown) return { kind: 'faults', faults: [faultOf('sender', 'sender_of_channel', { channel })] }
  const found = await findAddress(sql, messageKey, { businessId, to, channel, contact })
  const { sender, replyTo, sensitive, tracking } = call
  const isToAddress = to.kind === 'email' || to.kind === 'phone'
  const options = { language, sender, replyTo, sensitive, tracking, isToAddress }
  const stored = { template, contactId: contact?.contactId ?? null, ...found, options }
  return { kind: 'prepared', channel, stored }
}

function channelFaultOf(to: CallTo, { channel }: CallTemplate): Fault | null {
  const fault = channelFault(to, channel)
  if (fault === null) return null
  return fault === 'not_by_webhook' ? faultOf('template', fault) : faultOf('template', fault, { channel })
}

const checkFields = ({ attachments, replyTo, tracking }: SendCall, { channel }: CallTemplate): Fault[] =>
  channel === 'email'
    ? []
    : [
        ...(attachments.length > 0 ? [faultOf('attachments', 'only_by_email')] : []),
        ...(replyTo === null ? [] : [faultOf('replyTo', 'only_by_email')]),
        ...(tracking.opens || tracking.clicks ? [faultOf('tracking', 'only_by_email')] : []),
      ]

const checkNames = ({ data }: SendCall, { dataNames }: CallTemplate, language: string): Fault[] =>
  missingNames(dataNames[language] ?? [], data).map((name) => faultOf(`data.${name}`, 'required'))

interface Found {
  recipient: string | null
  address: string | null
  skipped: 'no_address' | 'suppressed' | null
}

async function findAddress(
  sql: Sql,
  messageKey: MessageKey,
  asked: { businessId: string; to: CallTo; channel: CallTemplate['channel']; contact: Recipient | null },
): Promise<Found> {
  const { businessId, to, channel, contact } = asked
  if (channel === 'push' || channel === 'webhook') {
    const target = contact === null ? null : addressOf(channel, contact, () => false)
    return { recipient: target ?? null, address: null, skipped: target === null ? 'no_address' : null }
  }
  const addresses =
    to.kind === 'email' || to.kind === 'phone'
      ? [to.value]
      : ((channel === 'email' ? contact?.emails : contact?.phones) ?? [])
  const suppressed = await findSuppressed(
    sql,
    messageKey,
    addresses.map((address) => ({ businessId, channel, address })),
  )
  const open = addresses.find((_, at) => suppressed[at] !== true)
  const address = open ?? addresses[0] ?? null
  if (address === null) return { recipient: null, address, skipped: 'no_address' }
  const recipient = channel === 'email' ? address : `+${address}`
  return { recipient, address, skipped: open === undefined ? 'suppressed' : null }
}
