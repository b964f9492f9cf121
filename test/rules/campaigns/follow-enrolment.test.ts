/** The course of an enrolment according to events, each with its date, its receipt and its place in the order. */
import { describe, expect, test } from 'vitest'
import { type Course, type FollowedEvent, followEnrolment } from '../../../src/rules/campaigns/follow-enrolment.ts'
import { type ContactReplay, type ReplayEntry, replayContact } from '../../../src/rules/campaigns/replay-contact.ts'
import { MAX_ENROLMENTS } from '../../../src/rules/limits.ts'
import { SEND, definitionOf } from './read.ts'
import { REACHABLE } from './run-simulation.ts'

/** A Monday. */
const NOW = Date.UTC(2026, 0, 5, 10)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })
const AWAIT = {
  id: 'f',
  type: 'wait_for',
  event: 'seen',
  timeout: 'P1D',
  steps: [{ ...SEND, id: 'yes' }],
  otherwise: [{ ...SEND, id: 'no' }],
}

type Received = [event: string, receivedAt: number, at?: number]

function byName(...events: Received[]): Map<string, FollowedEvent[]> {
  const found = new Map<string, FollowedEvent[]>()
  for (const [place, [event, receivedAt, at = receivedAt]] of events.entries())
    found.set(event, [...(found.get(event) ?? []), { receivedAt: NOW + receivedAt, at: NOW + at, place }])
  return found
}

const courseOf = (steps: object[], eventsByName: Course['eventsByName']) => ({
  campaignId: 'c',
  definition: definitionOf({ quietHours: null, steps }),
  goal: { event: 'paid' },
  contact: REACHABLE,
  eventsByName,
  sent: [],
})

/** Of a campaign that enrols once for each contact. */
const UNKEYED = { keyPath: null, restarts: false }

function follow(steps: object[], events: Received[], more: Partial<Course> = {}) {
  const course = { ...courseOf(steps, byName(...events)), enrolledAt: NOW, beganAt: NOW, place: 0, ...more }
  const sends: [string, number][] = []
  const moves = followEnrolment(course)
  for (let next = moves.next(); ; next = moves.next(true)) {
    if (next.done === true) return { sends, end: next.value }
    sends.push([next.value.step.id, next.value.at - NOW])
  }
}

describe('a goal', () => {
  const steps = [wait('w', 'P1D'), { ...SEND, id: 'a' }]

  test('that is dated before the enrolment and received after it stops it', () => {
    expect(follow(steps, [['paid', HOUR, -HOUR]])).toEqual({
      sends: [],
      end: { kind: 'ended', state: 'stopped', endsAt: NOW + HOUR, place: 0 },
    })
    expect(follow(steps, [['paid', HOUR, 0]]).end).toMatchObject({ state: 'converted' })
  })

  test('that is known already, and dated at the instant of the enrolment or later, converts at once', () => {
    const late = { enrolledAt: NOW - DAY, place: 1 }
    const converted = { kind: 'ended', state: 'converted', endsAt: NOW, place: 1 }
    expect(follow(steps, [['paid', -DAY]], late)).toEqual({ sends: [], end: converted })
    expect(follow(steps, [['paid', -DAY - 1]], late)).toMatchObject({ end: { state: 'finished' } })
  })
})

describe('an awaited event', () => {
  test('counts by its date, when it is received', () => {
    const sendsOf = (...events: Received[]) => follow([wait('w', 'PT1H'), AWAIT], events).sends
    expect(sendsOf(['seen', 2 * HOUR, HOUR])).toEqual([['yes', 2 * HOUR]])
    expect(sendsOf(['seen', 2 * HOUR, HOUR - 1])).toEqual([['no', 25 * HOUR]])
    expect(sendsOf(['seen', 25 * HOUR + 1, HOUR])).toEqual([['no', 25 * HOUR]])
  })

  test('is looked at no oftener than it matters', () => {
    const old = Array.from({ length: 2000 }, (_, n): Received => ['seen', HOUR + n, -1])
    expect(follow([AWAIT], old).sends).toEqual([['no', DAY]])
  })
})

test('is followed until an instant, which is in', () => {
  const steps = [wait('w', 'P1D'), { ...SEND, id: 'a' }]
  expect(follow(steps, [], { until: NOW + DAY - 1 })).toEqual({ sends: [], end: { kind: 'active', stepId: 'w' } })
  expect(follow(steps, [], { until: NOW + DAY }).sends).toEqual([['a', DAY]])
  expect(follow([], [], { until: NOW + DAY }).end).toEqual({ kind: 'active', stepId: null })
})

describe('a contact', () => {
  const entry = (receivedAt: number, place: number, more: Partial<ReplayEntry> = {}): ReplayEntry => ({
    enrolledAt: NOW + receivedAt,
    receivedAt: NOW + receivedAt,
    place,
    ...more,
  })
  const replay = (entries: ReplayEntry[], events: Received[] = [], more: Partial<ContactReplay> = {}) =>
    Array.from(
      replayContact({
        ...courseOf([wait('w', 'P1D')], byName(...events)),
        ...UNKEYED,
        canEnterAgain: true,
        entries,
        until: NOW + 30 * DAY,
        ...more,
      }),
    ).map(({ enrolledAt, state }) => [enrolledAt - NOW, state])

  test('enters once, or again after it has ended', () => {
    const entries = [entry(0, 0), entry(DAY, 1), entry(DAY + 1, 2)]
    expect(replay(entries)).toEqual([
      [0, 'finished'],
      [DAY + 1, 'finished'],
    ])
    expect(replay(entries, [], { canEnterAgain: false })).toEqual([[0, 'finished']])
  })

  test('enters again in the very millisecond of a goal that came before', () => {
    const events: Received[] = [
      ['signup', 0],
      ['paid', HOUR],
      ['signup', HOUR],
    ]
    // The goal is dated at the instant of the enrolment, and counts for it.
    expect(replay([entry(0, 0), entry(HOUR, 2)], events)).toEqual([
      [0, 'converted'],
      [HOUR, 'converted'],
    ])
    expect(replay([entry(0, 0), entry(HOUR, 0.5)], events)).toEqual([[0, 'converted']])
  })

  test('enters once by one page view', () => {
    const entries = [entry(0, 0, { once: 'p' }), entry(2 * DAY, 1, { once: 'p' }), entry(3 * DAY, 2, { once: 'q' })]
    expect(replay(entries)).toEqual([
      [0, 'finished'],
      [3 * DAY, 'finished'],
    ])
  })

  test('has as many enrolments as contacts may have', () => {
    const entries = Array.from({ length: MAX_ENROLMENTS + 1 }, (_, n) => entry(n * 2, n))
    const steps = definitionOf({ steps: [{ type: 'exit' }] })
    expect(replay(entries, [], { definition: steps })).toHaveLength(MAX_ENROLMENTS)
  })

  test('counts its own sends for the caps of the next enrolment', () => {
    const caps = [{ channel: 'email', atMost: 1, days: 10, whenReached: 'skip' }]
    const definition = definitionOf({ quietHours: null, caps, steps: [{ ...SEND, id: 'a' }] })
    const enrolments = Array.from(
      replayContact({
        ...courseOf([], new Map()),
        definition,
        ...UNKEYED,
        canEnterAgain: true,
        entries: [entry(0, 0), entry(HOUR, 1)],
        until: NOW + DAY,
      }),
    )
    expect(enrolments.flatMap(({ sends }) => sends.map(({ reason }) => reason))).toEqual([null, 'cap'])
  })
})
