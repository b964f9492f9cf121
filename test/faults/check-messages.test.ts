/** Tests that the check of messages finds each kind of fault. */
import { expect, it } from 'vitest'
import { type HeldMessages, checkCounts, compareMessages, countOptOuts } from './check-messages.ts'
import type { Attempt } from './ledger.ts'

const sent = {
  messageId: 'm1',
  enrolmentId: 'e1',
  step: 'first',
  state: 'sent',
  reason: null,
  claimedAt: 100,
  needsOptIn: true,
}
const enrolment = {
  enrolmentId: 'e1',
  contactId: 'c1',
  state: 'finished',
  enrolledAt: 50,
  receivedAt: 60,
  isDue: false,
  isCertain: true,
}
const WELL: HeldMessages = {
  messages: [sent, { ...sent, messageId: 'm2', step: 'second', claimedAt: 200 }],
  enrolments: [enrolment],
  goals: [{ contactId: 'c1', occurredAt: 250, sentAt: 250, answeredAt: 260 }],
  choices: [],
}
const ARRIVED = { m1: [110], m2: [210] }

const judge = (held: Partial<HeldMessages>, arrivals: Record<string, number[]> = ARRIVED): string[] =>
  compareMessages({ ...WELL, ...held }, new Map(Object.entries(arrivals)))

it('is content with two messages before the goal', () => {
  expect(judge({})).toEqual([])
})

it('complains about a message that arrived twice, or not at all, or was not to be sent', () => {
  expect(judge({}, { ...ARRIVED, m2: [210, 220] })).toEqual(['m2 arrived 2 times'])
  expect(judge({}, { m1: [110] })).toEqual(['m2 is sent, and did not arrive'])
  const skipped = WELL.messages.map((message) => ({ ...message, state: 'skipped' }))
  expect(judge({ messages: skipped })).toEqual(['m1 is skipped, and arrived', 'm2 is skipped, and arrived'])
})

it('takes an unknown message either way', () => {
  const unknown = WELL.messages.map((message) => ({ ...message, state: 'unknown' }))
  expect(judge({ messages: unknown })).toEqual([])
  expect(judge({ messages: unknown }, {})).toEqual([])
})

it('complains about an enrolment that was forgotten on its way', () => {
  expect(judge({ messages: [sent] })).toEqual(['e1 is finished without second'])
  expect(judge({ enrolments: [{ ...enrolment, state: 'active' }] })).toEqual(['e1 is active, and waits at no step'])
  expect(judge({ enrolments: [{ ...enrolment, state: 'active', isDue: true }] })).toEqual([])
})

it('complains about a message after a goal, if whose goal it was is certain', () => {
  const goals = [{ contactId: 'c1', occurredAt: 150, sentAt: 150, answeredAt: 199 }]
  expect(judge({ goals })).toEqual(['m2 was claimed at 200, after a goal answered at 199'])
  expect(judge({ goals, enrolments: [{ ...enrolment, isCertain: false }] })).toEqual([])
  expect(judge({ goals: [{ contactId: 'c1', occurredAt: 49, sentAt: 150, answeredAt: 199 }] })).toEqual([])
  expect(judge({ goals: [{ contactId: 'c1', occurredAt: 55, sentAt: 55, answeredAt: 59 }] })).toEqual([])
})

/** A choice of the contact with one attempt. */
const choice = (subscribed: boolean, attempt: Partial<Attempt>, contactId = 'c1'): HeldMessages['choices'][number] => ({
  contactId,
  subscribed,
  attempts: [{ sentAt: 0, endedAt: 0, outcome: 'answered', answer: '', data: {}, ...attempt }],
})
const OPT_IN = choice(true, { sentAt: 10, endedAt: 20 })
const OPT_OUT = choice(false, { sentAt: 120, endedAt: 199 })
const VIOLATION = ['m2 was claimed at 200, after an opt-out answered at 199']

it('complains about a message after an opt-out, if whose opt-out it was is certain', () => {
  expect(judge({ choices: [OPT_IN, OPT_OUT] })).toEqual(VIOLATION)
  expect(judge({ choices: [OPT_IN, OPT_OUT], enrolments: [{ ...enrolment, isCertain: false }] })).toEqual([])
  expect(judge({ choices: [OPT_IN, choice(false, { sentAt: 120, endedAt: 199 }, 'c2')] })).toEqual([])
})

it('takes an opt-out that was answered with the claim or later, or perhaps not recorded, either way', () => {
  for (const attempt of [
    { endedAt: 200 },
    { endedAt: 201 },
    { outcome: 'queued' as const },
    { outcome: 'unknown' as const },
    { outcome: 'refused' as const },
  ])
    expect(judge({ choices: [OPT_IN, choice(false, { sentAt: 120, endedAt: 199, ...attempt })] })).toEqual([])
})

it('does not judge a message that was claimed by a clock that was ahead', () => {
  const optedOut = [OPT_IN, choice(false, { sentAt: 120, endedAt: 130 })]
  const ahead = (ms: number) => WELL.messages.map((message) => ({ ...message, claimedAt: message.claimedAt + ms }))
  expect(judge({ messages: ahead(0), choices: optedOut })).not.toEqual([])
  expect(judge({ messages: ahead(3_600_000), choices: optedOut })).toEqual([])
})

it('lets an opt-in after the opt-out open the way again, unless it came too late or surely did nothing', () => {
  const again = (attempt: Partial<Attempt>) => judge({ choices: [OPT_IN, OPT_OUT, choice(true, attempt)] })
  expect(again({ sentAt: 199, endedAt: 199 })).toEqual([])
  expect(again({ sentAt: 199, endedAt: 300, outcome: 'unknown' })).toEqual([])
  // Its entry may have been kept for long, or have been under way during the opt-out.
  expect(again({ sentAt: 30, endedAt: 40, outcome: 'unknown' })).toEqual([])
  expect(again({ sentAt: 119, endedAt: 121 })).toEqual([])
  expect(again({ sentAt: 119, endedAt: 120 })).toEqual(VIOLATION)
  expect(again({ sentAt: 119, endedAt: 120, outcome: 'queued' })).toEqual(VIOLATION)
  expect(again({ sentAt: 201, endedAt: 300 })).toEqual(VIOLATION)
  expect(again({ sentAt: 199, endedAt: 199, outcome: 'refused' })).toEqual(VIOLATION)
  expect(again({ sentAt: 199, endedAt: 199, outcome: 'rejected' })).toEqual(VIOLATION)
})

const skipped = { ...sent, messageId: 'm2', step: 'second', claimedAt: 200, state: 'skipped', reason: 'no_opt_in' }
const STOPPED = { messages: [sent, skipped] }

it('complains about a message that was skipped although its contact had only opted in', () => {
  const arrived = { m1: [110] }
  expect(judge({ ...STOPPED, choices: [OPT_IN] }, arrived)).toEqual(['m2 was skipped, after an opt-in answered at 20'])
  expect(judge({ ...STOPPED, choices: [OPT_IN, OPT_OUT] }, arrived)).toEqual([])
  expect(judge({ ...STOPPED, choices: [choice(true, { endedAt: 60 })] }, arrived)).toEqual([])
  expect(judge({ ...STOPPED, choices: [choice(true, { endedAt: 20, outcome: 'queued' })] }, arrived)).toEqual([])
})

it('knows no opt-outs for a message that needs no opt-in', () => {
  const messages = WELL.messages.map((message) => ({ ...message, needsOptIn: false }))
  expect(judge({ messages, choices: [OPT_IN, OPT_OUT] })).toEqual([])
})

it('counts opt-outs before a message, and the messages that they stopped', () => {
  const count = (held: Partial<HeldMessages>) => countOptOuts({ ...WELL, ...held })
  expect(count({ ...STOPPED, choices: [OPT_IN, OPT_OUT] })).toEqual({ optOuts: 1, stopped: 1 })
  expect(count({ ...STOPPED, choices: [OPT_IN, OPT_OUT, OPT_OUT] })).toEqual({ optOuts: 2, stopped: 1 })
  expect(count({ choices: [OPT_IN, OPT_OUT] })).toEqual({ optOuts: 1, stopped: 0 })
  const none = { optOuts: 0, stopped: 0 }
  expect(count({ ...STOPPED, choices: [OPT_IN, choice(false, { endedAt: 200 })] })).toEqual(none)
  expect(count({ ...STOPPED, choices: [OPT_IN, choice(false, { endedAt: 150, outcome: 'queued' })] })).toEqual(none)
  expect(count({ ...STOPPED, choices: [OPT_OUT], enrolments: [{ ...enrolment, isCertain: false }] })).toEqual(none)
  expect(count({ messages: [sent, { ...skipped, needsOptIn: false }], choices: [OPT_OUT] })).toEqual(none)
})

it('complains when no opt-out was put to the test', () => {
  expect(checkCounts({ optOuts: 1, stopped: 1 })).toEqual([])
  expect(checkCounts({ optOuts: 1, stopped: 0 })).toHaveLength(1)
  expect(checkCounts({ optOuts: 0, stopped: 0 })).toHaveLength(1)
})
