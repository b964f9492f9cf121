/**
 * What a campaign would do with a contact: the rules that the engine moves enrolments by, on a clock of their own that goes from
 * instant to instant.
 */
import type { MessageChannel } from '../messages/message-channel.ts'
import type { Rule } from '../segments/rule.ts'
import { type Action, type Move, advance } from './advance.ts'
import type { Definition } from './definition.ts'
import { type SendVerdict, type SkipReason, judgeSend } from './judge-send.ts'
import type { SendStep, UpdateStep } from './steps.ts'

/** At which a simulation looks at the enrolment. No campaign needs more: each of its steps waits at most three times. */
export const MAX_INSTANTS = 1000

/** An event that arrives at its date, in epoch ms. */
export interface SimulatedEvent {
  event: string
  at: number
}

export interface SimulatedContact {
  contactId: string
  /** A zone that the runtime knows: see `knownZone`. */
  zone: string
  /** Whether the rule of a branch is true at an instant, with the answers until then. */
  testRule: (rule: Rule, stepId: string, now: number) => boolean
  /** The step changes the contact: the rules of later branches see it. */
  update: (step: UpdateStep, now: number) => void
  hasOptIn: (channel: MessageChannel) => boolean
  /** Null: the contact has none. Undefined: the channel has no addresses. */
  addressOf: (channel: MessageChannel) => string | null | undefined
  /** Its address. */
  isSuppressed: (channel: MessageChannel) => boolean
  /** What was really sent until then and counts for caps, at instants in epoch ms. */
  sent: readonly CountedSend[]
}

export interface CountedSend {
  channel: MessageChannel
  at: number
}

export interface Simulation {
  campaignId: string
  definition: Definition
  /** Null: the campaign has none. */
  goalEvent: string | null
  contact: SimulatedContact
  /** The instant of the enrolment, in epoch ms. */
  from: number
  /** In any order; none is dated before `from`. */
  answers: readonly SimulatedEvent[]
  maxInstants?: number
}

/** `reason`: why nothing goes out; null for a message that does. */
export interface SimulatedSend {
  step: SendStep
  /** Epoch ms. */
  at: number
  reason: SkipReason | null
}

export type SimulationEnd =
  | { kind: 'ended'; state: 'finished' | 'converted'; endsAt: number }
  /** It stays as it is: the campaign has no steps. */
  | { kind: 'active' }
  | { kind: 'too_many_instants' }

/**
 * Yields each send in turn, and is given back whether it went out: one that failed, as by its template, counts for no cap. The same
 * simulation has the same outcome. Answers come before the steps of their instant, and the goal comes first of all.
 */
export function* simulate(simulation: Simulation): Generator<SimulatedSend, SimulationEnd, boolean> {
  const { goalEvent, answers, contact, from, maxInstants = MAX_INSTANTS } = simulation
  const goalAt = Math.min(...answers.flatMap(({ event, at }) => (event === goalEvent ? [at] : [])))
  const sent = [...contact.sent]
  let position: Move['position'] = null
  let now = from
  for (let instants = 0; instants < maxInstants; instants++) {
    if (now >= goalAt) return { kind: 'ended', state: 'converted', endsAt: goalAt }
    const stop: Stop | null = yield* moveOn(simulation, { position, now, sent })
    if (stop === null) return { kind: 'ended', state: 'finished', endsAt: now }
    position = stop.position
    now = nextInstant(simulation, stop, now)
    if (now === Infinity) return { kind: 'active' }
  }
  return { kind: 'too_many_instants' }
}

/** Where it stays until `dueAt` (epoch ms), or until the event that it listens for. */
interface Stop {
  position: Move['position']
  dueAt: number
  listensFor: string | null
}

interface Look {
  position: Move['position']
  now: number
  /** Of the simulation, too. */
  sent: CountedSend[]
}

/** Null: at the end. */
function* moveOn(simulation: Simulation, look: Look): Generator<SimulatedSend, Stop | null, boolean> {
  const { now, sent } = look
  for (let { position } = look; ;) {
    const action = advance(moveOf(simulation, position, now))
    if (action.kind === 'finish') return null
    if (action.kind === 'stay') return { position, dueAt: Infinity, listensFor: null }
    if (action.kind === 'wait') return action
    if (action.kind === 'ask') throw new Error('a rule of a simulation was not answered')
    if (action.kind === 'update') {
      simulation.contact.update(action.step, now)
      position = { done: action.position }
      continue
    }
    const { step } = action
    const verdict = judge(simulation, action, { now, sent })
    if (verdict.kind === 'wait') {
      const held = verdict.isCap ? { ...action.position, isFirst: false } : action.position
      return { position: held, dueAt: verdict.until, listensFor: null }
    }
    const reason = verdict.kind === 'skip' ? verdict.reason : null
    const isOut: boolean = yield { step, at: now, reason }
    if (reason === null && isOut) sent.push({ channel: step.channel, at: now })
    position = { done: action.position }
  }
}

function moveOf({ definition, contact, answers }: Simulation, position: Move['position'], now: number): Move {
  return {
    definition,
    contactId: contact.contactId,
    position,
    now,
    facts: {
      testRule: (rule, stepId) => contact.testRule(rule, stepId, now),
      awaitedEventAt: (awaited, since) => {
        const instants = answers.flatMap(({ event, at }) => (event === awaited && at >= since && at <= now ? [at] : []))
        return instants.length > 0 ? Math.min(...instants) : null
      },
      timezone: () => contact.zone,
    },
  }
}

function judge(
  { campaignId, definition, contact }: Simulation,
  { step, isImmediate }: Extract<Action, { kind: 'send' }>,
  { now, sent }: Omit<Look, 'position'>,
): SendVerdict {
  const { channel } = step
  return judgeSend({
    step,
    definition,
    contactId: contact.contactId,
    campaignId,
    isImmediate,
    now,
    zone: contact.zone,
    hasOptIn: contact.hasOptIn(channel),
    address: contact.addressOf(channel),
    isSuppressed: contact.isSuppressed(channel),
    sentAt: sent.flatMap((one) => (one.channel === channel ? [one.at] : [])),
  })
}

/** Infinity: nothing comes any more. */
function nextInstant({ goalEvent, answers }: Simulation, { dueAt, listensFor }: Stop, now: number): number {
  const heard = answers.filter(({ event, at }) => at > now && (event === goalEvent || event === listensFor))
  return Math.min(dueAt, ...heard.map(({ at }) => at))
}
