/** Computes what a campaign would do with a contact that is enrolled at one instant, and reacts. */
import { meaningOfName } from '../events/interpret.ts'
import type { Definition } from './definition.ts'
import {
  type CountedSend,
  type Course,
  type FollowedContact,
  type FollowedSend,
  type FollowedEvent,
  followEnrolment,
} from './follow-enrolment.ts'

export { MAX_INSTANTS } from './follow-enrolment.ts'

/** An event that arrives at its date, in epoch milliseconds. */
export interface SimulatedEvent {
  event: string
  at: number
  properties?: Record<string, unknown>
}

export interface SimulatedContact extends FollowedContact {
  /** The real messages up to then that count for caps. */
  sent: readonly CountedSend[]
}

export interface Simulation {
  campaignId: string
  definition: Definition
  /** Null: the campaign has none. */
  goal: Course['goal']
  keys?: Course['keys']
  /** Which answers begin the enrolment again: see `Course`. */
  restartsBy?: (event: SimulatedEvent) => boolean
  contact: SimulatedContact
  /** Instant of the enrolment, in epoch milliseconds. */
  from: number
  /** In any order; none is dated before `from`. */
  answers: readonly SimulatedEvent[]
  maxInstants?: number
}

export type SimulationEnd =
  | { kind: 'ended'; state: 'finished' | 'converted'; endsAt: number }
  /** The enrolment stays active, because the campaign has no steps. */
  | { kind: 'active' }
  | { kind: 'too_many_instants' }

/** Yields each message in turn, and receives whether it was sent: see `followEnrolment`. */
export function* simulate(simulation: Simulation): Generator<FollowedSend, SimulationEnd, boolean> {
  const { campaignId, definition, goal, keys, restartsBy, contact, from, answers, maxInstants } = simulation
  const end = yield* followEnrolment({
    campaignId,
    definition,
    goal,
    ...(keys && { keys }),
    ...(restartsBy && { restarts: followed(answers.filter(restartsBy)) }),
    contact,
    enrolledAt: from,
    beganAt: from,
    place: 0,
    eventsByName: eventsByName(answers),
    sent: [...contact.sent],
    ...(maxInstants !== undefined && { maxInstants }),
  })
  if (end.kind === 'active') return { kind: 'active' }
  if (end.kind === 'too_many_instants') return end
  // No answer is dated before the enrolment, so none stops it.
  return { kind: 'ended', state: end.state === 'stopped' ? 'converted' : end.state, endsAt: end.endsAt }
}

function eventsByName(answers: readonly SimulatedEvent[]): Map<string, FollowedEvent[]> {
  return Map.groupBy(followed(answers), ({ event }) => event)
}

/** They come after the enrolment. */
const followed = (answers: readonly SimulatedEvent[]): (FollowedEvent & { event: string })[] =>
  answers
    .toSorted((one, other) => one.at - other.at)
    .map(({ event, at, properties = {} }, place) => ({
      event,
      at,
      receivedAt: at,
      place: place + 1,
      seen: { value: null, currency: null, type: meaningOfName(event).type, properties: () => properties },
    }))
