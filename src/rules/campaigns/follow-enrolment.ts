/**
 * Follows one enrolment, by the rules with which the engine moves enrolments, on its own clock that goes from instant
 * to instant.
 */
import type { MessageChannel } from '../messages/message-channel.ts'
import type { SeenEvent } from '../segments/compile/compile-where.ts'
import type { Rule } from '../segments/rule.ts'
import { type Action, type Move, advance } from './advance.ts'
import { type EventCondition, type Goal, compileFit } from './event-condition.ts'
import type { Definition } from './definition.ts'
import { type SendVerdict, decideSend } from './decide-send.ts'
import type { SkipReason } from '../messages/message-reasons.ts'
import type { SendStep, UpdateStep, WaitForStep } from './steps.ts'

/** Maximum number of instants of an enrolment. No campaign needs more: each of its steps waits at most three times. */
export const MAX_INSTANTS = 1000

/** Instants are epoch milliseconds. */
export interface FollowedEvent {
  /** Date of the event. */
  at: number
  receivedAt: number
  /** Position in the order of receipt, among everything that happens to the contact. */
  place: number
  /** For conditions. Absent: its properties are not known, and it meets none. */
  seen?: SeenEvent
}

export interface FollowedContact {
  contactId: string
  /** A zone that the runtime knows: see `knownZone`. */
  zone: string
  /** Returns whether the rule of a branch is true at an instant, with the events received up to then. */
  testRule: (rule: Rule, stepId: string, now: number) => boolean
  /** Called when a step changes the contact, so that the rules of later branches see the change. */
  update: (step: UpdateStep, now: number) => void
  hasOptIn: (channel: MessageChannel, now: number) => boolean
  /** Whether it gets the topic of a message. Null: the message has none. */
  topicOf: (step: SendStep, definition: Definition, now: number) => { subscribed: boolean } | null
  /** Null: the contact has none. Undefined: the channel has no addresses. */
  addressOf: (channel: MessageChannel) => string | null | undefined
  /** Whether its address is suppressed. */
  isSuppressed: (channel: MessageChannel, now: number) => boolean
}

export interface CountedSend {
  channel: MessageChannel
  /** Epoch milliseconds. */
  at: number
}

/** Instants are epoch milliseconds. */
export interface Course {
  campaignId: string
  definition: Definition
  /** Null: the campaign has none. */
  goal: Goal | null
  /** The key of the enrolment, and its path in trigger events. Absent: the campaign enrols once for each contact. */
  keys?: { key: string; keyPath: string }
  /** Trigger events of the key, in order of receipt: each begins it again until it has claimed a message. */
  restarts?: readonly FollowedEvent[]
  /** Date of the trigger event; default: the instant of the enrolment. */
  eventAt?: number
  contact: FollowedContact
  /** Instant of the enrolment. */
  enrolledAt: number
  /** When the first step begins: the enrolment is created then. */
  beganAt: number
  /** Events with lower places came before the enrolment. */
  place: number
  /** In order of receipt: events of the goal, and events that steps wait for. */
  eventsByName: ReadonlyMap<string, readonly FollowedEvent[]>
  /** Messages that count for caps from its instant on. The messages of the enrolment are added. */
  sent: CountedSend[]
  /** The enrolment is followed up to this instant. */
  until?: number
  maxInstants?: number
  /** Called with the ids of the steps that are reached. */
  onEntered?: (stepIds: readonly string[]) => void
}

/** `reason`: why nothing is sent; null for a message that is sent. */
export interface FollowedSend {
  step: SendStep
  /** Epoch milliseconds. */
  at: number
  reason: SkipReason | null
}

export type CourseEnd =
  | {
      kind: 'ended'
      state: 'finished' | 'converted' | 'stopped'
      endsAt: number
      /** Date of the event that ended it. Null: no event did. */
      place: number | null
    }
  /** The enrolment is at this step. Null: the campaign has no steps. */
  | { kind: 'active'; stepId: string | null }
  | { kind: 'too_many_instants' }

/**
 * Yields each message in turn, and receives whether it was sent: a failed one, for example because of its template,
 * counts for no cap. The same input has the same outcome. Events come before the steps of their instant, and the goal
 * comes first of all.
 */
export function* followEnrolment(course: Course): Generator<FollowedSend, CourseEnd, boolean> {
  const { beganAt, until = Infinity, maxInstants = MAX_INSTANTS } = course
  const goal = findGoal(course)
  const nextRestart = followRestarts(course)
  const progress = { hasMessage: false }
  let position: Move['position'] = null
  let now = beganAt
  for (let instants = 0; instants < maxInstants; instants++) {
    if (goal !== null && now >= goal.endsAt) return { kind: 'ended', ...goal }
    const stop: Stop | null = yield* moveOn(course, position, now, progress)
    if (stop === null) return { kind: 'ended', state: 'finished', endsAt: now, place: null }
    position = stop.position
    const next = nextInstant(course, stop, now, goal?.endsAt ?? Infinity)
    const again = progress.hasMessage ? Infinity : nextRestart(now)
    if (again <= next) position = null
    now = Math.min(again, next)
    if (now === Infinity || now > until) return { kind: 'active', stepId: stop.stepId }
  }
  return { kind: 'too_many_instants' }
}

/**
 * Returns a function that finds when the enrolment begins again, by a trigger event that is not older than the one
 * before. Call it with instants in ascending order.
 */
function followRestarts({ restarts = [], place, enrolledAt, eventAt = enrolledAt }: Course): (now: number) => number {
  let latest = eventAt
  const times = restarts.flatMap((one) => {
    if (one.place <= place || one.at < latest) return []
    latest = one.at
    return [one.receivedAt]
  })
  return (now) => times.find((at) => at > now) ?? Infinity
}

interface GoalEnd {
  state: 'converted' | 'stopped'
  endsAt: number
  place: number
}

/** Decides as saves do: a goal dated before the enrolment that is received after it stops it. */
function findGoal(course: Course): GoalEnd | null {
  const { goal: condition, enrolledAt, beganAt, place } = course
  const goals = condition === null ? [] : matchesOf(course, condition)
  if (goals.some((goal) => goal.place < place && goal.at >= enrolledAt))
    return { state: 'converted', endsAt: beganAt, place }
  const next = goals.find((goal) => goal.place >= place)
  if (next === undefined) return null
  return { state: next.at >= enrolledAt ? 'converted' : 'stopped', endsAt: next.receivedAt, place: next.place }
}

/** The events that count as the goal, or for a step. In order of receipt. */
function matchesOf({ eventsByName, keys }: Course, condition: EventCondition): readonly FollowedEvent[] {
  const events = eventsByName.get(condition.event) ?? []
  const fits = compileFit(condition, keys ?? { key: null, keyPath: null })
  return fits === null ? events : events.filter(({ seen }) => seen !== undefined && fits(seen))
}

/**
 * Where it stays until `dueAt` (epoch milliseconds), or until the event that it waits for, dated at or after `since`.
 */
interface Stop {
  position: Move['position']
  stepId: string | null
  since: number
  dueAt: number
  listensFor: WaitForStep | null
}

/** Null: at the end. `progress`: whether any message was decided. */
function* moveOn(
  course: Course,
  from: Move['position'],
  now: number,
  progress: { hasMessage: boolean },
): Generator<FollowedSend, Stop | null, boolean> {
  for (let position = from; ;) {
    const action = advance(moveOf(course, position, now))
    course.onEntered?.(action.entered)
    if (action.kind === 'finish') return null
    if (action.kind === 'stay') return { position, stepId: null, since: now, dueAt: Infinity, listensFor: null }
    const { stepId, since } = action.position
    if (action.kind === 'wait') {
      const { dueAt, listensFor } = action
      return { position: action.position, stepId, since, dueAt, listensFor }
    }
    if (action.kind === 'ask') throw new Error('a rule of a simulation was not answered')
    if (action.kind === 'update') {
      course.contact.update(action.step, now)
      position = { done: action.position }
      continue
    }
    const { step } = action
    const verdict = judge(course, action, now)
    if (verdict.kind === 'wait') {
      const held = verdict.isCap ? { ...action.position, isFirst: false } : action.position
      return { position: held, stepId, since, dueAt: verdict.until, listensFor: null }
    }
    const reason = verdict.kind === 'skip' ? verdict.reason : null
    progress.hasMessage = true
    const isOut: boolean = yield { step, at: now, reason }
    if (reason === null && isOut) course.sent.push({ channel: step.channel, at: now })
    position = { done: action.position }
  }
}

function moveOf(course: Course, position: Move['position'], now: number): Move {
  const { definition, contact } = course
  return {
    definition,
    contactId: contact.contactId,
    position,
    now,
    facts: {
      testRule: (rule, stepId) => contact.testRule(rule, stepId, now),
      awaitedEventAt: (awaited, since) => {
        let earliest = Infinity
        for (const { at, receivedAt } of matchesOf(course, awaited))
          if (at >= since && receivedAt <= now) earliest = Math.min(earliest, at)
        return earliest === Infinity ? null : earliest
      },
      timezone: () => contact.zone,
    },
  }
}

function judge(
  { campaignId, definition, contact, sent }: Course,
  { step, isImmediate }: Extract<Action, { kind: 'send' }>,
  now: number,
): SendVerdict {
  const { channel } = step
  return decideSend({
    step,
    definition,
    contactId: contact.contactId,
    campaignId,
    isImmediate,
    now,
    zone: contact.zone,
    hasOptIn: contact.hasOptIn(channel, now),
    topic: contact.topicOf(step, definition, now),
    address: contact.addressOf(channel),
    isSuppressed: contact.isSuppressed(channel, now),
    sentAt: sent.flatMap((one) => (one.channel === channel && one.at <= now ? [one.at] : [])),
  })
}

/** Infinity: no more events. */
function nextInstant(course: Course, { since, dueAt, listensFor }: Stop, now: number, goalAt: number): number {
  const events = listensFor === null ? [] : matchesOf(course, listensFor)
  const awaited = events.find(({ at, receivedAt }) => receivedAt > now && at >= since && at <= dueAt)
  return Math.min(dueAt, goalAt, awaited?.receivedAt ?? Infinity)
}
