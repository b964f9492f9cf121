/** What a campaign would do with a contact that is enrolled at one instant, and answers. */
import type { Definition } from './definition.ts'
import {
  type CountedSend,
  type FollowedContact,
  type FollowedSend,
  type FollowedEvent,
  followEnrolment,
} from './follow-enrolment.ts'

export { MAX_INSTANTS } from './follow-enrolment.ts'

/** An event that arrives at its date, in epoch ms. */
export interface SimulatedEvent {
  event: string
  at: number
}

export interface SimulatedContact extends FollowedContact {
  /** What was really sent until then and counts for caps. */
  sent: readonly CountedSend[]
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

export type SimulationEnd =
  | { kind: 'ended'; state: 'finished' | 'converted'; endsAt: number }
  /** It stays as it is: the campaign has no steps. */
  | { kind: 'active' }
  | { kind: 'too_many_instants' }

/** Yields each send in turn, and is given back whether it went out: see `followEnrolment`. */
export function* simulate(simulation: Simulation): Generator<FollowedSend, SimulationEnd, boolean> {
  const { campaignId, definition, goalEvent, contact, from, answers, maxInstants } = simulation
  const end = yield* followEnrolment({
    campaignId,
    definition,
    goalEvent,
    contact,
    enrolledAt: from,
    beganAt: from,
    place: 0,
    heard: hear(answers),
    sent: [...contact.sent],
    ...(maxInstants !== undefined && { maxInstants }),
  })
  if (end.kind === 'active') return { kind: 'active' }
  if (end.kind === 'too_many_instants') return end
  // No answer is dated before the enrolment: none stops it.
  return { kind: 'ended', state: end.state === 'stopped' ? 'converted' : end.state, endsAt: end.endsAt }
}

function hear(answers: readonly SimulatedEvent[]): Map<string, FollowedEvent[]> {
  const heard = new Map<string, FollowedEvent[]>()
  const sorted = answers.toSorted((one, other) => one.at - other.at)
  for (const [place, { event, at }] of sorted.entries()) {
    const known = heard.get(event)
    if (known) known.push({ at, receivedAt: at, place })
    else heard.set(event, [{ at, receivedAt: at, place }])
  }
  return heard
}
