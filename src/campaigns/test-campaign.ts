/** Sends the whole sequence of a campaign at once to the address of a tester (campaigns, "Reading"). */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { keepWhatsappId } from '../messages/callbacks/whatsapp-ids.ts'
import { type SenderKey, type StoredChannel, connectionOf, listSenders } from '../messages/channels/channels.ts'
import type { Transport } from '../messages/channels/provider.ts'
import { requireProvider } from '../messages/channels/providers.ts'
import { openSetup } from '../messages/channels/sender-secrets.ts'
import { TEST_MS, type TestDeps, isSuppressed, readRecipient } from '../messages/channels/send-test.ts'
import { inertLinks, unsubscribeHeaders } from '../messages/public-links.ts'
import { UNKNOWN_CONTACT } from '../messages/templates/contact-values.ts'
import type { MessageValues } from '../messages/templates/values.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import { takeFirstParts } from '../rules/campaigns/first-way.ts'
import { type SimulatedContact, simulate } from '../rules/campaigns/simulate.ts'
import type { SendStep, UpdateStep } from '../rules/campaigns/steps.ts'
import { fittingTraits, updateFacts } from '../rules/campaigns/update-facts.ts'
import { type Fault, moveFault } from '../rules/faults.ts'
import { nearestSender } from '../rules/messages/choose-sender.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../rules/messages/message-channel.ts'
import type { Definitions } from '../segments/load-definitions.ts'
import type { Sql } from '../stores/postgres.ts'
import { afterCommit, inTransaction } from '../stores/transaction.ts'
import { testRule } from './branch-rules.ts'
import type { Campaign } from './campaign.ts'
import { findTemplateSenders } from './engine/send/find-senders.ts'
import { waitForTurn } from './engine/send/wait-for-turn.ts'
import type { Person } from './simulation/person.ts'
import { createSendRenderer } from './simulation/render-sends.ts'

/** Per business, in 24 hours. */
export const MAX_CAMPAIGN_TESTS = 100

/** One address, or one for each channel. */
export type TestRecipient = string | Partial<Record<MessageChannel, string>>

export interface CampaignTest {
  business: { id: string; name: string; timezone: string; currency: string; country: string | null }
  actor: Actor
  campaign: Campaign
  /** The rules of its branches can be resolved with these. */
  definitions: Definitions
  /** Null: no contact; the first part of each split is taken. */
  person: Person | null
  to: TestRecipient
}

export type TestedOutcome =
  | 'accepted'
  | 'refused'
  | 'temporary'
  | 'unknown'
  | 'template_failed'
  | 'skipped'
  | 'not_sent'

/**
 * `reason`: the provider's own words, the reason why the template failed, `no_address` or `suppressed` for a skipped
 * message, or `per_second` or `daily_budget` when the channel did not let it through in time.
 */
export interface TestedSend {
  stepId: string
  channel: MessageChannel
  outcome: TestedOutcome
  provider: string | null
  messageId: string | null
  providerMessageId?: string
  reason?: string
}

export type CampaignTested =
  | { kind: 'tested'; sends: TestedSend[] }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'too_many' }

/** Throws SealError when the secrets of a channel cannot be decrypted. */
export async function testCampaign(deps: TestDeps, asked: CampaignTest): Promise<CampaignTested> {
  const read = readRecipients(asked)
  if ('faults' in read) return { kind: 'faults', faults: read.faults }
  if (!(await countTest(deps.sql, asked))) return { kind: 'too_many' }
  const transports = new Map<string, { provider: string; transport: Transport }>()
  const senders = await readTestSenders(deps.sql, asked)
  const context = {
    ...asked,
    deps,
    senders,
    recipients: read.recipients,
    transports,
    signal: AbortSignal.timeout(TEST_MS),
  }
  try {
    const renderer = createSendRenderer(
      { sql: deps.sql, renderer: deps.renderer.of(asked.business.id) },
      asked.business.id,
    )
    const sends: TestedSend[] = []
    for (const { step, values } of listMessages(deps, asked)) {
      const rendering = async () => await renderer.render(step, deps.now(), values)
      sends.push({ stepId: step.id, channel: step.channel, ...(await sendOne(context, step, rendering)) })
    }
    return { kind: 'tested', sends }
  } finally {
    for (const { transport } of transports.values()) transport.close()
  }
}

interface SendContext extends CampaignTest {
  deps: TestDeps
  recipients: Recipients
  transports: Map<string, { provider: string; transport: Transport }>
  /** The sender of each step. */
  senders: TestSenders
  signal: AbortSignal
}

type Outcome = Omit<TestedSend, 'stepId' | 'channel'>

async function sendOne(
  context: SendContext,
  step: SendStep,
  render: () => ReturnType<ReturnType<typeof createSendRenderer>['render']>,
): Promise<Outcome> {
  const { deps, business, person, recipients, senders, signal } = context
  const { channel } = step
  const none = { provider: null, messageId: null }
  const to = recipients.get(channel)
  if (to === undefined) return { ...none, outcome: 'skipped', reason: 'no_address' }
  if (await isSuppressed(deps.sql, business, channel, to)) return { ...none, outcome: 'skipped', reason: 'suppressed' }
  if (signal.aborted) return { ...none, outcome: 'not_sent' }
  const rendering = await render()
  if (rendering.kind === 'failed') return { ...none, outcome: 'template_failed', reason: rendering.reason }
  if (rendering.kind === 'beyond')
    return { ...none, outcome: 'template_failed', reason: `the sequence ${rendering.limit}` }
  const stored = senders(step)
  const connection = connectionOf(business.id, stored)
  const held = await afterCommit(() => waitForTurn(deps, connection, signal))
  if (held !== null) return { ...none, outcome: 'not_sent', reason: held }
  const messageId = uuidv7()
  const { provider, transport } = openTransport(context, connection, stored)
  const headers = unsubscribeHeaders(inertLinks(deps.config))
  const contactId = person?.contactId ?? null
  const message = { messageId, businessId: business.id, channel, contactId, to, message: rendering.message, headers }
  const { kind: outcome, recipientId, contact: _, ...said } = await transport.send(message, signal)
  // The message is sent. An id that was not kept comes with the next one.
  await afterCommit(() => keepWhatsappId(deps.sql, message, recipientId, deps.now())).catch(() => undefined)
  return { outcome, provider, messageId, ...said }
}

function openTransport({ deps, transports }: SendContext, connection: SenderKey, stored: StoredChannel) {
  const name = `${stored.channel} ${stored.key}`
  const known = transports.get(name)
  if (known) return known
  const provider = requireProvider(stored.provider)
  const transport = provider.open(openSetup(connection, stored, deps.config.secretsKey), deps)
  const opened = { provider: provider.name, transport }
  transports.set(name, opened)
  return opened
}

type TestSenders = (step: SendStep) => StoredChannel

/** Those that the messages name, whatever their state. */
async function readTestSenders(sql: Sql, { business, campaign }: CampaignTest): Promise<TestSenders> {
  const stored = await listSenders(sql, business.id)
  const sends = walkSteps(campaign.steps).flatMap(({ step }) => (step.type === 'send' ? [step] : []))
  const templates = await findTemplateSenders(
    sql,
    sends.map(({ template }) => ({ businessId: business.id, templateId: template })),
  )
  return ({ channel, sender: step, template }) => {
    const senders = stored.filter((one) => one.channel === channel)
    const named = nearestSender({ step, campaign: campaign.senders?.[channel], template: templates.get(template) })
    const found = senders.find(({ key }) => key === named) ?? senders.find(({ isDefault }) => isDefault)
    if (found === undefined) throw new Error(`there is no default sender of ${channel}`)
    return found
  }
}

/** Null when the channel needs no address. A channel without an entry has none. */
type Recipients = ReadonlyMap<MessageChannel, string | null>

function readRecipients({ to, business }: CampaignTest): { recipients: Recipients } | { faults: Fault[] } {
  const recipients = new Map<MessageChannel, string | null>([['webhook', null]])
  const faults: Fault[] = []
  const isOne = typeof to === 'string'
  for (const channel of MESSAGE_CHANNELS) {
    const sent = isOne ? addressFor(channel, to) : to[channel]
    if (sent === undefined) continue
    const read = readRecipient(channel, sent, business.country)
    if ('recipient' in read) recipients.set(channel, read.recipient)
    else faults.push(...read.faults.map((fault) => moveFault(fault, isOne ? 'to' : `to.${channel}`)))
  }
  return faults.length > 0 ? { faults: faults.slice(0, isOne ? 1 : undefined) } : { recipients }
}

function addressFor(channel: MessageChannel, address: string): string | undefined {
  const isMail = address.includes('@')
  if (channel === 'email') return isMail ? address : undefined
  return (channel === 'sms' || channel === 'whatsapp') && !isMail ? address : undefined
}

/** The messages in their order, with the data that each is rendered from. */
function* listMessages(
  { config, now }: Pick<TestDeps, 'config' | 'now'>,
  { business, campaign, definitions, person }: CampaignTest,
): Generator<{ step: SendStep; values: MessageValues }> {
  const updates: UpdateStep[] = []
  const { fields } = definitions
  const contact = person?.values ?? UNKNOWN_CONTACT
  const event = 'event' in campaign.trigger ? { name: campaign.trigger.event, properties: {} } : null
  const from = now()
  const walker: SimulatedContact = {
    contactId: person?.contactId ?? '',
    zone: business.timezone,
    testRule(rule, _, at) {
      if (person === null) return true
      const facts = updates.reduce((known, step) => updateFacts(known, step, { at, fields }), person.facts)
      return testRule(rule, facts, { definitions, now: at })
    },
    update: (step) => void updates.push(step),
    hasOptIn: () => true,
    topicOf: () => null,
    addressOf: () => undefined,
    isSuppressed: () => false,
    sent: [],
  }
  const steps = person === null ? takeFirstParts(campaign.steps) : campaign.steps
  const moves = simulate({
    campaignId: campaign.campaignId,
    definition: { steps, caps: [], quietHours: null, holdOut: 0, tracking: { opens: false, clicks: false } },
    goal: null,
    contact: walker,
    from,
    answers: [],
  })
  for (let next = moves.next(); next.done !== true; next = moves.next(true)) {
    const customFields = { ...contact.customFields }
    for (const update of updates)
      for (const [key, value] of Object.entries(fittingTraits(update, fields)))
        if (value === null) delete customFields[key]
        else customFields[key] = value
    const values = {
      contact: { ...contact, customFields },
      event,
      ...inertLinks(config),
      business: { name: business.name, currency: business.currency },
    }
    yield { step: next.value.step, values }
  }
}

/** Returns false when the business has used up its tests. Two calls at once do not exceed the limit together. */
async function countTest(sql: Sql, { business, actor, campaign, person }: CampaignTest): Promise<boolean> {
  const businessId = business.id
  return await inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`campaign tests ${businessId}`}, 0))`
    const [{ many }] = await tx<[{ many: number }]>`
      select count(*)::int as many from audit_log
      where business_id = ${businessId} and action = 'campaign.test' and at > now() - interval '1 day'`
    if (many >= MAX_CAMPAIGN_TESTS) return false
    const details = person === null ? {} : { contactId: person.contactId }
    await recordAudit(tx, { businessId, actor, action: 'campaign.test', target: campaign.campaignId, details })
    return true
  })
}
