/** Simulates a campaign (campaigns, "Reading"). Nothing is stored, and nothing is sent. */
import { loadMessageKey } from '../../messages/message-key.ts'
import { findSuppressed } from '../../messages/suppressions/find-suppressed.ts'
import type { Renderer } from '../../messages/templates/renderer.ts'
import type { RenderedMessage } from '../../messages/templates/template.ts'
import type { MessageValues } from '../../messages/templates/values.ts'
import { applyEvents } from '../../rules/campaigns/apply-events.ts'
import type { SkipReason } from '../../rules/messages/message-reasons.ts'
import { findTopic } from '../../rules/topics/topic-of-send.ts'
import { knownZone } from '../../rules/campaigns/local-time.ts'
import { MAX_INSTANTS, type SimulatedContact, type SimulatedEvent, simulate } from '../../rules/campaigns/simulate.ts'
import type { SendStep, UpdateStep } from '../../rules/campaigns/steps.ts'
import { walkSteps } from '../../rules/campaigns/walk-steps.ts'
import { fittingTraits, updateFacts } from '../../rules/campaigns/update-facts.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import { ADDRESS_CHANNELS, type AddressChannel } from '../../rules/messages/suppression.ts'
import type { Definitions } from '../../segments/load-definitions.ts'
import type { Sql } from '../../stores/postgres.ts'
import { testRule } from '../branch-rules.ts'
import type { Campaign } from '../campaign.ts'
import type { Person } from './person.ts'
import { type RenderLimits, createSendRenderer } from './render-sends.ts'
import { keysOf, latestTrigger } from './simulated-keys.ts'

export interface SimulationRequest {
  business: { id: string; name: string; timezone: string; currency: string }
  campaign: Campaign
  /** The rules of its branches can be resolved with these. */
  definitions: Definitions
  person: Person
  /** Values of the event for templates. */
  event: MessageValues['event']
  links: Pick<MessageValues, 'unsubscribeUrl' | 'preferencesUrl'>
  /** Epoch milliseconds. */
  from: number
  answers: readonly SimulatedEvent[]
}

/** Instants are ISO 8601 UTC. */
export interface ShownSend {
  stepId: string
  at: string
  channel: MessageChannel
  state: 'sent' | 'skipped' | 'failed'
  reason: SkipReason | 'template_failed' | null
  /** Why it cannot be rendered. */
  detail: string | null
  message: RenderedMessage | null
}

export interface ShownSimulation {
  sends: ShownSend[]
  state: 'active' | 'finished' | 'converted'
  endsAt: string | null
}

interface SimulationDeps {
  sql: Sql
  renderer: Renderer
  limits?: RenderLimits
}

export async function simulateCampaign(
  { sql, renderer, limits }: SimulationDeps,
  asked: SimulationRequest,
): Promise<{ simulation: ShownSimulation } | { fault: Fault }> {
  const { business, campaign, from, answers } = asked
  const updates: AppliedUpdate[] = []
  const messages = createSendRenderer({ sql, renderer }, business.id, limits)
  const moves = simulate({
    campaignId: campaign.campaignId,
    definition: campaign,
    goal: campaign.goal,
    ...keysOf(campaign, asked.event),
    contact: await contactOf(sql, asked, updates),
    from,
    answers,
  })
  const sends: ShownSend[] = []
  let next = moves.next()
  while (next.done !== true) {
    const { step, at, reason } = next.value
    const rendering = reason === null ? await messages.render(step, at, valuesAt(asked, updates, at)) : null
    if (rendering?.kind === 'beyond') return { fault: tooMuch(campaign, step, rendering.limit) }
    const isFailed = rendering?.kind === 'failed'
    sends.push({
      stepId: step.id,
      at: isoTime(at),
      channel: step.channel,
      state: reason !== null ? 'skipped' : isFailed ? 'failed' : 'sent',
      reason: isFailed ? 'template_failed' : reason,
      detail: isFailed ? rendering.reason : null,
      message: rendering?.kind === 'rendered' ? rendering.message : null,
    })
    next = moves.next(!isFailed)
  }
  const end = next.value
  switch (end.kind) {
    case 'too_many_instants':
      return { fault: faultOf('', 'too_many_instants', { max: MAX_INSTANTS }) }
    case 'active':
      return { simulation: { sends, state: 'active', endsAt: null } }
    case 'ended':
      return { simulation: { sends, state: end.state, endsAt: isoTime(end.endsAt) } }
  }
}

const isoTime = (at: number): string => new Date(at).toISOString()

function tooMuch({ steps }: Campaign, { id }: SendStep, limit: string): Fault {
  const path = `${walkSteps(steps).find(({ step }) => step.id === id)?.path}.template`
  return { path, message: `${path}: what the simulation renders until there ${limit}` }
}

/** `at`: epoch milliseconds. */
interface AppliedUpdate {
  step: UpdateStep
  at: number
}

async function contactOf(sql: Sql, asked: SimulationRequest, updates: AppliedUpdate[]): Promise<SimulatedContact> {
  const { business, definitions, person } = asked
  const suppressed = await listSuppressed(sql, business.id, person)
  return {
    contactId: person.contactId,
    zone: knownZone(person.values.timezone, business.timezone),
    testRule: (rule, _, now) => testRule(rule, factsAt(asked, updates, now), { definitions, now }),
    update: (step, at) => void updates.push({ step, at }),
    hasOptIn: (channel) => channel === 'webhook' || (person.subscriptions[channel] ?? false),
    topicOf: (step, definition) =>
      findTopic(step, definition, { topics: definitions.topics, choices: person.facts.topics }),
    addressOf: (channel) => addressOf(person, channel),
    isSuppressed: (channel) => suppressed.has(channel),
    sent: person.sent,
  }
}

/** Channels whose addresses are all suppressed. */
async function listSuppressed(sql: Sql, businessId: string, person: Person): Promise<Set<MessageChannel>> {
  const asked = ADDRESS_CHANNELS.flatMap((channel) =>
    addressesOf(person, channel).map((address) => ({ businessId, channel, address })),
  )
  const answers = await findSuppressed(sql, await loadMessageKey(sql), asked)
  const usable = new Set(asked.flatMap(({ channel }, index) => (answers[index] ? [] : [channel])))
  return new Set(asked.flatMap(({ channel }) => (usable.has(channel) ? [] : [channel])))
}

const addressesOf = ({ emails, phones }: Person, channel: AddressChannel): string[] =>
  channel === 'email' ? emails : phones

function addressOf(person: Person, channel: MessageChannel): string | null | undefined {
  const { hasPush, contactId } = person
  if (channel === 'push' && hasPush !== null) return hasPush ? contactId : null
  const own = ADDRESS_CHANNELS.find((one) => one === channel)
  return own && (addressesOf(person, own)[0] ?? null)
}

/** Includes the triggering event, and the answers and updates up to then. */
function factsAt(
  { person, event, from, answers, definitions: { fields } }: SimulationRequest,
  updates: readonly AppliedUpdate[],
  now: number,
) {
  const trigger = event === null ? [] : [{ event: event.name, at: from }]
  const applied = applyEvents(person.facts, [...trigger, ...answers.filter(({ at }) => at <= now)])
  return updates.reduce((facts, { step, at }) => updateFacts(facts, step, { at, fields }), applied)
}

function valuesAt(asked: SimulationRequest, updates: readonly AppliedUpdate[], now: number): MessageValues {
  const { person, links, business, definitions, campaign } = asked
  const event = latestTrigger(campaign, asked, now)
  const stage = STAGES[factsAt(asked, updates, now).stage] ?? person.values.stage
  const customFields = { ...person.values.customFields }
  for (const { step } of updates)
    for (const [key, value] of Object.entries(fittingTraits(step, definitions.fields)))
      if (value === null) delete customFields[key]
      else customFields[key] = value
  return {
    contact: { ...person.values, stage, customFields },
    event,
    enrolment: { key: keysOf(campaign, asked.event).keys?.key ?? '' },
    ...links,
    business: { name: business.name, currency: business.currency },
  }
}
