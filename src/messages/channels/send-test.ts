/** Sends one message now, without regard to consent, and returns the provider's answer. */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAttempt, recordOutcome } from '../../audit/audit.ts'
import type { Config } from '../../config.ts'
import { readContact } from '../../contacts/read/read-contact.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import { readPhone } from '../../rules/identity/read-phone.ts'
import { isClean } from '../../rules/events/text.ts'
import { readAddress } from '../../rules/messages/mailbox.ts'
import { ADDRESS_CHANNELS, readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Sql } from '../../stores/postgres.ts'
import { afterCommit, inTransaction } from '../../stores/transaction.ts'
import { keepWhatsappId } from '../callbacks/whatsapp-ids.ts'
import { reachableUrl } from '../callbacks/reachable-url.ts'
import { loadMessageKey } from '../message-key.ts'
import { inertLinks, unsubscribeHeaders } from '../public-links.ts'
import { UNKNOWN_CONTACT } from '../templates/contact-values.ts'
import { loadContactValues } from '../templates/load-contact-values.ts'
import { loadTemplate } from '../templates/load-template.ts'
import { renderMessage } from '../templates/render-message.ts'
import type { RenderService } from '../templates/renderer.ts'
import type { MessageChannel, RenderedMessage } from '../templates/template.ts'
import type { MessageContact } from '../templates/values.ts'
import { findSuppressed } from '../suppressions/find-suppressed.ts'
import { connectionOf, loadChannel, loadSender } from './channels.ts'
import type { SendOutcome } from './provider.ts'
import { requireProvider } from './providers.ts'
import { openSetup } from './sender-secrets.ts'

/** Per business. */
export const MAX_TESTS_A_DAY = 100
/** Milliseconds, less than the time after which a server closes an idle connection. */
export const TEST_MS = 12_000

export interface TestDeps {
  sql: Sql
  renderer: RenderService
  guard: TargetGuard
  config: Pick<Config, 'publicUrl' | 'port' | 'secretsKey'>
  /** Epoch milliseconds. */
  now: () => number
}

export interface TestedBusiness {
  id: string
  name: string
  currency: string
  /** ISO 3166 alpha-2, or null. */
  country: string | null
}

/** `templateId` and `contactId` are UUIDs. */
export interface TestRequest {
  to: string | undefined
  templateId: string | undefined
  contactId: string | undefined
  language: string | undefined
}

/** `sender`: absent for the default one of the channel. */
export interface TestedSender {
  business: TestedBusiness
  actor: Actor
  channel: MessageChannel
  sender?: string
}

export type TestOutcome =
  | { kind: 'tested'; messageId: string; provider: string; outcome: SendOutcome }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'template_not_found' }
  | { kind: 'contact_not_found' }
  | { kind: 'sender_not_found' }
  | { kind: 'too_many' }

/** Throws SealError when the secrets cannot be decrypted. */
export async function sendTest(
  deps: TestDeps,
  { business, actor, channel, sender }: TestedSender,
  request: TestRequest,
): Promise<TestOutcome> {
  const { sql, config } = deps
  const to = readRecipient(channel, request.to, business.country)
  if ('faults' in to) return { kind: 'faults', ...to }
  if (await isSuppressed(sql, business, channel, to.recipient))
    return { kind: 'faults', ...fail(faultOf('to', 'suppressed')) }
  const rendered = await makeMessage(deps, business, channel, request)
  if (rendered.kind !== 'rendered') return rendered
  const key = { businessId: business.id, channel }
  const stored = sender === undefined ? await loadChannel(sql, key) : await loadSender(sql, { ...key, sender })
  if (stored === null) return { kind: 'sender_not_found' }
  const connection = connectionOf(business.id, stored)
  const provider = requireProvider(stored.provider)
  const setup = openSetup(connection, stored, config.secretsKey)
  const entryId = await recordTest(sql, { ...key, sender, actor }, { provider: provider.name, ...idsOf(request) })
  if (entryId === null) return { kind: 'too_many' }
  const messageId = uuidv7()
  const url = reachableUrl(config, await loadMessageKey(sql), { ...connection, provider: provider.name })
  const transport = provider.open(setup, { ...deps, ...(url !== null && { callbackUrl: url }) })
  try {
    const contactId = request.contactId ?? null
    const message = {
      messageId,
      ...key,
      contactId,
      to: to.recipient,
      message: rendered.message,
      headers: unsubscribeHeaders(inertLinks(config)),
    }
    const { recipientId, contact: _, ...outcome } = await transport.send(message, AbortSignal.timeout(TEST_MS))
    // Without the reason: a provider may name the address in it.
    await recordOutcome(sql, entryId, outcome.kind)
    // The message is sent. An id that was not kept comes with the next one.
    await afterCommit(() => keepWhatsappId(sql, message, recipientId, deps.now())).catch(() => undefined)
    return { kind: 'tested', messageId, provider: provider.name, outcome }
  } finally {
    transport.close()
  }
}

/** Returns whether messages of the channel to this recipient are suppressed. */
export async function isSuppressed(
  sql: Sql,
  { id: businessId, country }: Pick<TestedBusiness, 'id' | 'country'>,
  channel: MessageChannel,
  recipient: string | null,
): Promise<boolean> {
  const addressed = ADDRESS_CHANNELS.find((one) => one === channel)
  const address = addressed && readChannelAddress(addressed, recipient ?? '', country)
  if (!address) return false
  const [isFound = false] = await findSuppressed(sql, await loadMessageKey(sql), [{ businessId, ...address }])
  return isFound
}

const MAX_RECIPIENT = 320

/** In the form that providers get. */
export function readRecipient(
  channel: MessageChannel,
  to: string | undefined,
  country: string | null,
): { recipient: string | null } | { faults: Fault[] } {
  if (channel === 'push' || channel === 'webhook') {
    const isRight = to === undefined || (to.length <= MAX_RECIPIENT && isClean(to))
    return isRight ? { recipient: to ?? null } : fail(faultOf('to', 'characters_up_to', { max: MAX_RECIPIENT }))
  }
  if (channel === 'email') {
    const address = readAddress(to ?? '')
    return address === null ? fail(faultOf('to', 'one_email')) : { recipient: address }
  }
  const phone = readPhone(to ?? '', country)
  return phone?.read === true ? { recipient: `+${phone.value}` } : fail(faultOf('to', 'phone'))
}

const fail = (fault: Fault): { faults: Fault[] } => ({ faults: [fault] })

type Rendered =
  | { kind: 'rendered'; message: RenderedMessage }
  | Exclude<TestOutcome, { kind: 'tested' | 'too_many' | 'sender_not_found' }>

async function makeMessage(
  { sql, renderer, config, now }: TestDeps,
  business: TestedBusiness,
  channel: MessageChannel,
  { templateId, contactId, language }: TestRequest,
): Promise<Rendered> {
  const contact = contactId === undefined ? UNKNOWN_CONTACT : await loadValues(sql, business, contactId)
  if (contact === null) return { kind: 'contact_not_found' }
  if (templateId === undefined) return { kind: 'rendered', message: sampleOf(channel, business.name) }
  const template = await loadTemplate(sql, { businessId: business.id, templateId })
  if (template === null) return { kind: 'template_not_found' }
  if (template.channel !== channel)
    return {
      kind: 'faults',
      faults: [faultOf('templateId', 'of_template_for', { channel: template.channel })],
    }
  const rendering = await renderMessage(renderer.of(business.id), template, {
    values: {
      contact,
      event: null,
      ...inertLinks(config),
      business: { name: business.name, currency: business.currency },
    },
    language: language ?? contact.language,
    now: now(),
  })
  if (rendering.kind === 'rendered') return { kind: 'rendered', message: rendering.message }
  return { kind: 'faults', faults: [{ path: 'templateId', message: rendering.reason }] }
}

async function loadValues(
  sql: Sql,
  { id, currency }: TestedBusiness,
  contactId: string,
): Promise<MessageContact | null> {
  const contact = await readContact(sql, { businessId: id, contactId, currency })
  return contact && loadContactValues(sql, id, contact)
}

/** The text without a template. */
function sampleOf(channel: MessageChannel, businessName: string): RenderedMessage {
  const language = 'en'
  const name = businessName.replaceAll(/\s+/g, ' ').trim()
  const text = `This is a test message of ${name}.`
  if (channel === 'email') return { language, subject: `Test message of ${name}`, text }
  if (channel === 'push') return { language, title: 'Test message', body: text }
  if (channel === 'webhook') return { language, body: JSON.stringify({ type: 'test', message: text }) }
  return { language, text }
}

const idsOf = ({ templateId, contactId }: TestRequest) => ({
  ...(templateId !== undefined && { templateId }),
  ...(contactId !== undefined && { contactId }),
})

/**
 * Records a test before it is sent, so that one that is interrupted counts, too. Returns the id of its entry in the
 * audit log; null when the business has used up its tests of the last 24 hours. Two calls at once do not exceed the
 * limit together.
 */
async function recordTest(
  sql: Sql,
  {
    businessId,
    channel,
    sender,
    actor,
  }: { businessId: string; channel: MessageChannel; sender: string | undefined; actor: Actor },
  details: Record<string, unknown>,
): Promise<number | null> {
  return await inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`channel tests ${businessId}`}, 0))`
    const [{ many }] = await tx<[{ many: number }]>`
      select count(*)::int as many from audit_log
      where business_id = ${businessId} and action = 'channel.test' and at > now() - interval '1 day'`
    if (many >= MAX_TESTS_A_DAY) return null
    return recordAttempt(tx, { businessId, actor, action: 'channel.test', target: sender ?? channel, details })
  })
}
