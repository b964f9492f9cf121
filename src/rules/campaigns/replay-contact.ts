/**
 * Computes what a campaign would have done with one contact on its real events: its enrolments, one after the other.
 */
import { type Course, type CourseEnd, type FollowedSend, followEnrolment } from './follow-enrolment.ts'
import { MAX_ENROLMENTS } from '../limits.ts'

/** Something that triggers the campaign. Instants are epoch milliseconds. */
export interface ReplayEntry {
  /** Instant of the enrolment. */
  enrolledAt: number
  receivedAt: number
  /** See `FollowedEvent`. */
  place: number
  /** Of all entries with the same value, at most one enters. Absent: each may enter. */
  once?: string
}

/** An enrolment. Instants are epoch milliseconds. */
export interface Replayed {
  enrolledAt: number
  state: 'active' | 'finished' | 'converted' | 'stopped'
  /** Null while it is active. */
  endsAt: number | null
  /** The step of an active enrolment. Null: it has ended, or the campaign has no steps. */
  stepId: string | null
  sends: FollowedSend[]
  /** Ids of the steps that it reached, in order. */
  entered: string[]
}

export interface ContactReplay extends Pick<
  Course,
  'campaignId' | 'definition' | 'goalEvent' | 'contact' | 'eventsByName' | 'sent'
> {
  canEnterAgain: boolean
  /** In the order of their places. */
  entries: readonly ReplayEntry[]
  until: number
}

/**
 * Yields one enrolment at a time, so that a long history can be replayed in pieces. No trigger enters while an
 * enrolment is active, and only the first one does unless the campaign lets contacts enter again.
 */
export function* replayContact({ canEnterAgain, entries, ...course }: ContactReplay): Generator<Replayed, void> {
  let many = 0
  const used = new Set<string>()
  let last: CourseEnd | null = null
  for (const entry of entries) {
    if (last !== null && !(canEnterAgain && isAfter(entry, last))) continue
    if (entry.once !== undefined && used.has(entry.once)) continue
    if (many === MAX_ENROLMENTS) break
    const { enrolment, end } = follow(course, entry)
    many += 1
    yield enrolment
    if (entry.once !== undefined) used.add(entry.once)
    last = end
  }
}

/**
 * Events come before the steps of their instant: an event that triggers when the last step ends finds the enrolment
 * active.
 */
function isAfter({ receivedAt, place }: ReplayEntry, end: CourseEnd): boolean {
  if (end.kind !== 'ended') return false
  return end.place === null ? receivedAt > end.endsAt : place > end.place
}

function follow(
  course: Omit<ContactReplay, 'canEnterAgain' | 'entries'>,
  { enrolledAt, receivedAt, place }: ReplayEntry,
): { enrolment: Replayed; end: CourseEnd } {
  const entered: string[] = []
  const sends: FollowedSend[] = []
  const onEntered = (stepIds: readonly string[]): void => void entered.push(...stepIds)
  const moves = followEnrolment({ ...course, enrolledAt, beganAt: receivedAt, place, onEntered })
  let next = moves.next()
  while (next.done !== true) {
    sends.push(next.value)
    next = moves.next(true)
  }
  const end = next.value
  if (end.kind === 'too_many_instants') throw new Error(`the campaign ${course.campaignId} needs too many instants`)
  const isEnded = end.kind === 'ended'
  const state = isEnded ? end.state : 'active'
  const stepId = isEnded ? null : end.stepId
  return { enrolment: { enrolledAt, state, endsAt: isEnded ? end.endsAt : null, stepId, sends, entered }, end }
}
