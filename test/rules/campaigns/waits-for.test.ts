import { expect, it } from 'vitest'
import type { HeldBy } from '../../../src/rules/campaigns/checked-send.ts'
import type { Step } from '../../../src/rules/campaigns/steps.ts'
import { type WaitingEnrolment, waitsFor } from '../../../src/rules/campaigns/waits-for.ts'

const SEND: Step = { id: 's', type: 'send', channel: 'email', template: 't', kind: 'marketing' }
const WAIT: Step = { id: 'w', type: 'wait', for: 'P3D' }
const UPDATE: Step = { id: 'u', type: 'update', addTags: ['vip'], removeTags: [], traits: {} }
const BRANCH: Step = { id: 'b', type: 'branch', rule: { tag: 'vip', operator: 'has' }, steps: [], otherwise: [] }
const HOURS: HeldBy = { type: 'quiet_hours', from: '21:00', to: '09:00' }
const CAP: HeldBy = { type: 'cap', channel: 'email', atMost: 2, days: 7 }

it.each<[string, Partial<WaitingEnrolment>, unknown]>([
  ['a duration', { step: WAIT }, { type: 'wait', for: 'P3D' }],
  ['a time', { step: { id: 'u', type: 'wait_until', time: '09:00' } }, { type: 'wait_until', time: '09:00' }],
  [
    'a time on some days',
    { step: { id: 'u', type: 'wait_until', time: '09:00', weekdays: [1, 5] } },
    { type: 'wait_until', time: '09:00', weekdays: [1, 5] },
  ],
  [
    'an event',
    { step: { id: 'f', type: 'wait_for', event: 'paid', timeout: 'P7D', steps: [WAIT], otherwise: [] } },
    { type: 'wait_for', event: 'paid', timeout: 'P7D' },
  ],
  ['quiet hours', { step: SEND, heldBy: HOURS }, HOURS],
  ['a cap', { step: SEND, heldBy: CAP }, CAP],
  ['another attempt', { step: SEND, attempts: 3 }, { type: 'retry', attempts: 3 }],
  ['quiet hours before another attempt', { step: SEND, attempts: 3, heldBy: HOURS }, HOURS],
  ['the provider', { step: SEND, attempts: 1, isSending: true }, { type: 'sending' }],
  ['a worker that moves it on', { step: SEND, isSettled: true }, null],
  ['a worker that sends', { step: SEND }, null],
  ['the timeline', { step: BRANCH, isAsking: true }, { type: 'timeline' }],
  ['a worker that decides a branch', { step: BRANCH }, null],
  ['an update', { step: UPDATE }, { type: 'update' }],
  ['a worker that moves it on after an update', { step: UPDATE, isSettled: true }, null],
  ['the end of a pause', { step: WAIT, isHeld: true }, { type: 'resume' }],
  ['the goal', { step: null, goal: 'paid' }, { type: 'goal', event: 'paid' }],
  ['nothing', { step: null }, null],
])('says that an enrolment waits for %s', (_, waiting, expected) => {
  const none = {
    goal: null,
    heldBy: null,
    attempts: 0,
    isSending: false,
    isHeld: false,
    isSettled: false,
    isAsking: false,
  }
  expect(waitsFor({ ...none, step: null, ...waiting })).toEqual(expected)
})
