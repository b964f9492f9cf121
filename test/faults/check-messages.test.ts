/** Tests that the check of messages finds each kind of fault. */
import { expect, it } from 'vitest'
import { type HeldMessages, compareMessages } from './check-messages.ts'

const sent = { messageId: 'm1', enrolmentId: 'e1', step: 'first', state: 'sent', claimedAt: 100 }
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
  expect(judge({ goals })).toEqual(['m2 went out at 200, after a goal answered at 199'])
  expect(judge({ goals, enrolments: [{ ...enrolment, isCertain: false }] })).toEqual([])
  expect(judge({ goals: [{ contactId: 'c1', occurredAt: 49, sentAt: 150, answeredAt: 199 }] })).toEqual([])
  expect(judge({ goals: [{ contactId: 'c1', occurredAt: 55, sentAt: 55, answeredAt: 59 }] })).toEqual([])
})
