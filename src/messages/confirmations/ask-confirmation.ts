/** Sends the mail that asks a person to confirm an opt-in, and returns the provider's answer. */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordContactAudit } from '../../audit/audit.ts'
import { type Contact, readContact } from '../../contacts/read/read-contact.ts'
import { readTopics } from '../../contacts/read/read-topics.ts'
import type { Sql } from '../../stores/postgres.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import { connectionOf, loadChannel } from '../channels/channels.ts'
import type { SendOutcome } from '../channels/provider.ts'
import { requireProvider } from '../channels/providers.ts'
import { openSetup } from '../channels/sender-secrets.ts'
import { TEST_MS, type TestDeps, type TestedBusiness } from '../channels/send-test.ts'
import { loadMessageKey } from '../message-key.ts'
import { linksOf, publicAddress, unsubscribeHeaders } from '../public-links.ts'
import { findSuppressed } from '../suppressions/find-suppressed.ts'
import { loadContactValues } from '../templates/load-contact-values.ts'
import { loadTemplate } from '../templates/load-template.ts'
import { renderMessage } from '../templates/render-message.ts'
import { readConfirmationTemplate } from './setting.ts'
import { hashEmail, hashTopic, writeConfirmation } from './token.ts'

/** Per contact, in 24 hours. merge_contacts keeps as many. */
export const MAX_CONFIRMATIONS = 3
const DAY_MS = 86_400_000

/** `reason`: the provider's own words, or the reason why nothing was sent. */
export interface ConfirmationMail {
  outcome: SendOutcome['kind'] | 'template_failed' | 'suppressed' | 'already_subscribed'
  reason?: string
}

export type ConfirmationResult =
  /** `contactId`: the survivor. */
  | { kind: 'asked'; contactId: string; subscriptions: Contact['subscriptions']; mail: ConfirmationMail }
  | { kind: 'contact_not_found' | 'no_template' | 'no_address' | 'too_many' }

/** `topics`: the keys of those that are asked for; the channel is asked for in any case. */
export interface Asked {
  contactId: string
  topics: readonly string[]
}

/** Throws SealError when the secrets of the channel cannot be decrypted. */
export async function askConfirmation(
  deps: TestDeps,
  { business, actor }: { business: TestedBusiness; actor: Actor },
  { contactId, topics }: Asked,
): Promise<ConfirmationResult> {
  const { sql, config, now } = deps
  const { id: businessId, currency } = business
  const templateId = await chooseTemplate(sql, businessId, topics)
  const template = templateId && (await loadTemplate(sql, { businessId, templateId }))
  if (!template) return { kind: 'no_template' }
  const contact = await readContact(sql, { businessId, contactId, currency })
  if (contact === null) return { kind: 'contact_not_found' }
  const { contactId: survivor, subscriptions } = contact
  const asked = async (mail: ConfirmationMail): Promise<ConfirmationResult> => {
    await recordContactAudit(sql, { businessId, actor, action: 'contact.confirmation', target: survivor })
    return { kind: 'asked', contactId: survivor, subscriptions, mail }
  }
  if (subscriptions.email && (await areChosen(sql, { businessId, contactId: survivor, topics })))
    return asked({ outcome: 'already_subscribed' })
  const addresses = await listAddresses(sql, businessId, survivor)
  if (addresses.length === 0) return { kind: 'no_address' }
  const key = await loadMessageKey(sql)
  const sought = addresses.map((address) => ({ businessId, channel: 'email' as const, address }))
  const suppressed = await findSuppressed(sql, key, sought)
  const address = addresses.find((_, at) => !suppressed[at])
  if (address === undefined) return asked({ outcome: 'suppressed' })
  const askedAt = now()
  if (!(await countAsked(sql, { businessId, contactId: survivor, askedAt }))) return { kind: 'too_many' }
  const addressHash = hashEmail(key, businessId, address)
  const subscriber = { businessId, contactId: survivor }
  const links = linksOf(publicAddress(config), key, { ...subscriber, channel: 'email' })
  const token = writeConfirmation(key, { ...subscriber, addressHash, askedAt, topics: topics.map(hashTopic) })
  const confirmUrl = `${publicAddress(config)}/confirm/${token}`
  const rendering = await renderMessage(deps.renderer.of(businessId), template, {
    values: {
      contact: await loadContactValues(sql, businessId, contact),
      event: null,
      ...links,
      confirmUrl,
      business: { name: business.name, currency: business.currency },
    },
    language: contact.language,
    now: askedAt,
  })
  if (rendering.kind === 'failed') return asked({ outcome: 'template_failed', reason: rendering.reason })
  if (![rendering.message.html, rendering.message.text].some((part) => part?.includes(confirmUrl)))
    return asked({ outcome: 'template_failed', reason: 'the template has no {{confirmUrl}}' })
  const channel = { businessId, channel: 'email' } as const
  const stored = await loadChannel(sql, channel)
  const setup = openSetup(connectionOf(businessId, stored), stored, config.secretsKey)
  const transport = requireProvider(stored.provider).open(setup, deps)
  let sent: SendOutcome
  try {
    sent = await transport.send(
      {
        ...channel,
        messageId: uuidv7(),
        contactId: survivor,
        to: address,
        message: rendering.message,
        headers: unsubscribeHeaders(links),
      },
      AbortSignal.timeout(TEST_MS),
    )
  } finally {
    transport.close()
  }
  const { kind: outcome, reason } = sent
  return asked({ outcome, ...(reason !== undefined && { reason }) })
}

/** The template of the topics, if all name the same one; else that of the business. */
async function chooseTemplate(sql: Sql, businessId: string, topics: readonly string[]): Promise<string | null> {
  const rows = await sql<{ template: string | null }[]>`
    select confirmation_template as template from topics
    where business_id = ${businessId} and key = any (${arrayLiteral(topics)}::text::text[] collate "C")`
  const [first] = rows
  const own = first !== undefined && rows.every(({ template }) => template === first.template) ? first.template : null
  return own ?? (await readConfirmationTemplate(sql, businessId))
}

/** Returns whether the contact has chosen all of the topics itself. A default is not a choice. */
async function areChosen(
  sql: Sql,
  { businessId, contactId, topics }: { businessId: string; contactId: string; topics: readonly string[] },
): Promise<boolean> {
  if (topics.length === 0) return true
  const state = await readTopics(sql, { businessId, contactId })
  return topics.every((topic) => state?.topics[topic]?.email?.choice === true)
}

/**
 * Returns the emails, the primary one first. For a contact with a keyed call, addresses that only a page has sent are left out, because they
 * may be a stranger's.
 */
async function listAddresses(sql: Sql, businessId: string, contactId: string): Promise<string[]> {
  const rows = await sql<{ value: string }[]>`
    select i.value from identities i join contacts c on c.business_id = i.business_id and c.id = i.contact_id
    where i.business_id = ${businessId} and i.contact_id = ${contactId} and i.kind = 'email' and (i.proven or not c.keyed)
    order by i.proven desc, i.is_primary desc, i.position`
  return rows.map(({ value }) => value)
}

/** Returns false when the contact was asked often enough. Two calls at once do not exceed the limit together. */
async function countAsked(
  sql: Sql,
  { businessId, contactId, askedAt }: { businessId: string; contactId: string; askedAt: number },
): Promise<boolean> {
  const since = askedAt - DAY_MS
  const rows = await sql`
    insert into confirmations as known (business_id, contact_id, asked_at)
    select c.business_id, c.id, array[${askedAt}::bigint] from contacts c
    where c.business_id = ${businessId} and c.id = ${contactId} and c.merged_into is null
    for share of c
    on conflict (business_id, contact_id) do update set
      asked_at = array(select at from unnest(known.asked_at) as at where at > ${since}) || excluded.asked_at
    where (select count(*) from unnest(known.asked_at) as at where at > ${since}) < ${MAX_CONFIRMATIONS}
    returning 1`
  return rows.length > 0
}
