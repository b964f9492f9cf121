/** The explanation of why events did or did not enrol a contact, computed afterwards, matches what happened. */
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  type NotEntered,
  type PastCampaign,
  type PastEnrolment,
  type PastEvent,
  explainTriggers,
} from '../../../src/rules/campaigns/explain-triggers.ts'
import { triggeringEvent } from '../../../src/rules/campaigns/event-trigger.ts'
import type { Source } from '../../../src/rules/events/facts.ts'
import { runs } from '../../support/runs.ts'

interface Sent {
  kind: 'event'
  source: Source
  fits: boolean
  /** How long before its receipt the event happened, in ms. */
  age: number
}
type Act = Sent | { kind: 'publish' | 'pause' | 'resume' | 'archive' | 'end' }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      source: fc.constantFrom<Source>('live', 'browser', 'batch'),
      fits: fc.boolean(),
      age: fc.integer({ min: -2, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('publish', 'pause', 'resume', 'archive', 'end').map(oneKind) }),
  },
)
function oneKind(kind: string) {
  return kind as 'publish' | 'pause' | 'resume' | 'archive' | 'end'
}

const pastEvent = (no: number, at: number, { source, fits, age }: Sent): PastEvent => ({
  eventId: String(no).padStart(6, '0'),
  occurredAt: at - age,
  receivedAt: at,
  source,
  seen: triggeringEvent({ value: fits ? 1 : 0, meaning: { type: 'none', currency: null }, properties: null }, source),
})

const NEXT: Record<string, Record<string, 'published' | 'paused' | 'archived'>> = {
  draft: { publish: 'published' },
  published: { pause: 'paused', archive: 'archived' },
  paused: { resume: 'published', archive: 'archived' },
}

/** Performs the acts one after the other, each in a millisecond of its own. */
function live(acts: readonly Act[], canEnterAgain: boolean) {
  const changes: { status: 'published' | 'paused' | 'archived'; at: number }[] = []
  const enrolments: PastEnrolment[] = []
  const events: PastEvent[] = []
  const expected: (NotEntered | 'entered' | null)[] = []
  let status = 'draft'
  for (const [no, one] of acts.entries()) {
    const at = 1000 + no
    const active = enrolments.find(({ endedAt }) => endedAt === null)
    if (one.kind === 'end' && active) active.endedAt = at
    const next = NEXT[status]?.[one.kind]
    if (next !== undefined) changes.push({ status: next, at })
    status = next ?? status
    if (one.kind !== 'event') continue
    const event = pastEvent(no, at, one)
    events.push(event)
    let outcome: NotEntered | 'entered' = 'entered'
    if (one.source === 'batch') outcome = 'batch'
    else if (status !== 'published') outcome = status === 'draft' ? 'not_published' : (status as NotEntered)
    else if (!one.fits) outcome = 'where'
    else if (active) outcome = 'already_active'
    else if (enrolments.length > 0 && !canEnterAgain) outcome = 'entered_once'
    else enrolments.push({ enrolledAt: Math.min(event.occurredAt, at), receivedAt: at, endedAt: null, key: null })
    expected.push(outcome)
  }
  const triggerTest: PastCampaign['triggerTest'] = ({ value }) => value === 1
  return { events, campaign: { triggerTest, ...UNKEYED, canEnterAgain, changes, isCut: false, enrolments }, expected }
}

const UNKEYED = { readKey: null, ownGoal: null, elsewhere: [] }

test('each event has the outcome that it had', () => {
  const property = fc.property(fc.array(act, { maxLength: 30 }), fc.boolean(), (acts, canEnterAgain) => {
    const { events, campaign, expected } = live([{ kind: 'publish' }, ...acts], canEnterAgain)
    const found = explainTriggers(events.toReversed(), campaign).toReversed()
    expect(found.map(({ entered, reason }) => (entered ? 'entered' : reason))).toEqual(expected)
  })
  fc.assert(property, { numRuns: runs(5000) })
})

describe('what is not kept', () => {
  const LIVE: Sent = { kind: 'event', source: 'live', fits: true, age: 0 }
  const campaign: PastCampaign = {
    triggerTest: null,
    ...UNKEYED,
    canEnterAgain: false,
    changes: [{ status: 'published', at: 10 }],
    isCut: false,
    enrolments: [],
  }
  const outcomes = (events: PastEvent[], more: Partial<PastCampaign> = {}) =>
    explainTriggers(events, { ...campaign, ...more }).map(({ entered, reason }) => (entered ? 'entered' : reason))

  it('is not made up: an event that nothing kept out has no reason', () => {
    expect(outcomes([pastEvent(1, 20, LIVE)])).toEqual([null])
    expect(outcomes([pastEvent(1, 9, LIVE)])).toEqual(['not_published'])
  })

  it('leaves the time before the oldest change open once changes are forgotten', () => {
    expect(outcomes([pastEvent(1, 9, LIVE)], { isCut: true })).toEqual([null])
    expect(outcomes([pastEvent(1, 9, { ...LIVE, fits: false })], { isCut: true, triggerTest: () => false })).toEqual([
      'where',
    ])
  })

  it('gives an enrolment to one of two events of the same instants', () => {
    const enrolments = [{ enrolledAt: 20, receivedAt: 20, endedAt: null, key: null }]
    const [first, second] = [pastEvent(1, 20, LIVE), pastEvent(2, 20, LIVE)]
    expect(outcomes([second, first], { enrolments })).toEqual(['already_active', 'entered'])
    const triggerTest: PastCampaign['triggerTest'] = ({ value }) => value === 1
    const other = pastEvent(0, 20, { ...LIVE, fits: false })
    expect(outcomes([other, first], { enrolments, triggerTest })).toEqual(['where', 'entered'])
  })
})
