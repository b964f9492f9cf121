/**
 * Computes what a campaign would have done with one contact on its real events: its enrolments, one after the other.
 */
import {
  type Course,
  type CourseEnd,
  type FollowedEvent,
  type FollowedSend,
  followEnrolment,
} from './follow-enrolment.ts'
import { MAX_ACTIVE_IN_CAMPAIGN, MAX_ENROLMENTS } from '../limits.ts'

/** Something that triggers the campaign. Instants are epoch milliseconds. */
export interface ReplayEntry {
  /** Instant of the enrolment. */
  enrolledAt: number
  receivedAt: number
  /** See `FollowedEvent`. */
  place: number
  /** Date of the trigger event. Absent: no event triggers. */
  eventAt?: number
  /** Absent: the campaign enrols once for each contact. */
  key?: string
  /** Of all entries with the same value, at most one enters. Absent: each may enter. */
  once?: string
}

/** An enrolment. Instants are epoch milliseconds. */
export interface Replayed {
  /** Null: the campaign enrols once for each contact. */
  key: string | null
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
  'campaignId' | 'definition' | 'goal' | 'contact' | 'eventsByName' | 'sent'
> {
  canEnterAgain: boolean
  /** The path of the key. Null: the campaign enrols once for each contact. */
  keyPath: string | null
  /** Whether an enrolment begins again with each trigger event of its key, until it has claimed a message. */
  restarts: boolean
  /** In the order of their places. */
  entries: readonly ReplayEntry[]
  until: number
}

/**
 * Yields one enrolment at a time, so that a long history can be replayed in pieces. No trigger enters while an
 * enrolment of its key is active, and only the first one of a key does unless the campaign lets contacts enter again.
 */
export function* replayContact(replay: ContactReplay): Generator<Replayed, void> {
  const { canEnterAgain, entries, keyPath, restarts, ...course } = replay
  let many = 0
  const used = new Set<string>()
  const ends = new Map<string | undefined, CourseEnd>()
  for (const entry of entries) {
    const { key, once } = entry
    const last = ends.get(key)
    if (last !== undefined && !(canEnterAgain && isAfter(entry, last))) continue
    if (once !== undefined && used.has(once)) continue
    if (key === undefined && many === MAX_ENROLMENTS) break
    const active = key === undefined ? [] : [...ends.values()].filter((end) => !isAfter(entry, end))
    if (active.length >= MAX_ACTIVE_IN_CAMPAIGN) continue
    const { enrolment, end } = follow(course, entry, {
      ...(key !== undefined && keyPath !== null && { keys: { key, keyPath } }),
      ...(restarts && { restarts: entries.filter((one) => one.key === key).map(followedEntry) }),
    })
    many += 1
    yield enrolment
    if (once !== undefined) used.add(once)
    ends.set(key, end)
  }
}

const followedEntry = ({ enrolledAt, eventAt = enrolledAt, receivedAt, place }: ReplayEntry): FollowedEvent => ({
  at: eventAt,
  receivedAt,
  place,
})

/**
 * Events come before the steps of their instant: an event that triggers when the last step ends finds the enrolment
 * active.
 */
function isAfter({ receivedAt, place }: ReplayEntry, end: CourseEnd): boolean {
  if (end.kind !== 'ended') return false
  return end.place === null ? receivedAt > end.endsAt : place > end.place
}

function follow(
  course: Omit<ContactReplay, 'canEnterAgain' | 'entries' | 'keyPath' | 'restarts'>,
  { key, enrolledAt, eventAt = enrolledAt, receivedAt, place }: ReplayEntry,
  more: Pick<Course, 'keys' | 'restarts'>,
): { enrolment: Replayed; end: CourseEnd } {
  const entered: string[] = []
  const sends: FollowedSend[] = []
  const onEntered = (stepIds: readonly string[]): void => void entered.push(...stepIds)
  const moves = followEnrolment({ ...course, ...more, enrolledAt, eventAt, beganAt: receivedAt, place, onEntered })
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
  return {
    enrolment: { key: key ?? null, enrolledAt, state, endsAt: isEnded ? end.endsAt : null, stepId, sends, entered },
    end,
  }
}
