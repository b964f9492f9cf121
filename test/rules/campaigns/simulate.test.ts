import { describe, expect, test } from 'vitest'
import { isHeldOut } from '../../../src/rules/campaigns/hold-out.ts'
import { type Simulation, simulate } from '../../../src/rules/campaigns/simulate.ts'
import { EXIT, RULE, SEND, definitionOf } from './read.ts'
import { REACHABLE, runSimulation } from './run-simulation.ts'

/** A Monday. */
const NOW = Date.UTC(2026, 0, 5, 10)
const HOUR = 3_600_000
const DAY = 24 * HOUR

const simulationOf = (body: object, more: Partial<Simulation> = {}): Simulation => ({
  campaignId: 'welcome',
  definition: definitionOf({ quietHours: null, ...body }),
  goal: { event: 'paid' },
  contact: REACHABLE,
  from: NOW,
  answers: [],
  ...more,
})
const run = (body: object, more: Partial<Simulation> = {}) => runSimulation(simulationOf(body, more))
const send = (id: string, more: object = {}) => ({ ...SEND, id, ...more })
const wait = (id: string, time: string) => ({ id, type: 'wait', for: time })
const sendsOf = (...args: Parameters<typeof run>) => run(...args).sends.map(([one, at]) => [one, at - NOW])
const contact = (more: Partial<Simulation['contact']>) => ({ contact: { ...REACHABLE, ...more } })

const SERIES = { steps: [send('a'), wait('w', 'P3D'), send('b')] }

test('a series ends with its last step', () => {
  expect(run(SERIES)).toEqual({
    sends: [
      ['a', NOW],
      ['b', NOW + 3 * DAY],
    ],
    end: { kind: 'ended', state: 'finished', endsAt: NOW + 3 * DAY },
  })
})

test('a campaign without steps stays active, and converts by its goal', () => {
  expect(run({})).toEqual({ sends: [], end: { kind: 'active' } })
  const answers = [
    { event: 'seen', at: NOW + 1 },
    { event: 'paid', at: NOW + DAY },
    { event: 'paid', at: NOW + HOUR },
  ]
  expect(run({}, { answers }).end).toEqual({ kind: 'ended', state: 'converted', endsAt: NOW + HOUR })
  expect(run({}, { answers, goal: null }).end).toEqual({ kind: 'active' })
})

describe('the goal', () => {
  const at = (answeredAt: number) => run(SERIES, { answers: [{ event: 'paid', at: answeredAt }] })

  test('stops what it comes before, also in the same instant', () => {
    expect(at(NOW)).toEqual({ sends: [], end: { kind: 'ended', state: 'converted', endsAt: NOW } })
    expect(at(NOW + 1).sends).toEqual([['a', NOW]])
    expect(at(NOW + 3 * DAY)).toMatchObject({ sends: [['a', NOW]], end: { state: 'converted' } })
  })

  test('comes too late for one that has finished', () => {
    expect(at(NOW + 3 * DAY + 1).end).toMatchObject({ state: 'finished' })
  })

  test('stops a send that quiet hours hold', () => {
    const body = { steps: [wait('w', 'PT12H'), send('a')], quietHours: { from: '21:00', to: '09:00' } }
    expect(sendsOf(body)).toEqual([['a', 23 * HOUR]])
    expect(run(body, { answers: [{ event: 'paid', at: NOW + 22 * HOUR }] })).toEqual({
      sends: [],
      end: { kind: 'ended', state: 'converted', endsAt: NOW + 22 * HOUR },
    })
  })
})

describe('an answer', () => {
  const steps = [
    wait('w', 'PT1H'),
    { id: 'f', type: 'wait_for', event: 'seen', timeout: 'P1D', steps: [send('yes')], otherwise: [send('no')] },
  ]
  const answered = (...ats: number[]) =>
    sendsOf({ steps }, { answers: ats.map((at) => ({ event: 'seen', at: NOW + at })) })

  test('that is awaited goes on at its instant, up to the time-out', () => {
    expect(answered()).toEqual([['no', 25 * HOUR]])
    expect(answered(HOUR - 1)).toEqual([['no', 25 * HOUR]])
    expect(answered(HOUR)).toEqual([['yes', HOUR]])
    expect(answered(25 * HOUR)).toEqual([['yes', 25 * HOUR]])
    expect(answered(25 * HOUR + 1)).toEqual([['no', 25 * HOUR]])
    expect(answered(8 * HOUR, HOUR - 1, 5 * HOUR)).toEqual([['yes', 5 * HOUR]])
  })

  test('with another name changes nothing', () => {
    expect(sendsOf({ steps }, { answers: [{ event: 'other', at: NOW + 2 * HOUR }] })).toEqual([['no', 25 * HOUR]])
  })
})

test('a branch is asked at its instant', () => {
  const steps = [wait('w', 'P1D'), { id: 'b', type: 'branch', rule: RULE, steps: [EXIT], otherwise: [] }, send('a')]
  const asked: unknown[] = []
  const testRule = (...question: unknown[]) => asked.push(question) < 0
  expect(sendsOf({ steps }, contact({ testRule }))).toEqual([['a', DAY]])
  expect(asked).toEqual([[RULE, 'b', NOW + DAY]])
  expect(sendsOf({ steps }, contact({ testRule: () => true }))).toEqual([])
})

describe('a send', () => {
  const steps = [send('a'), send('p', { kind: 'transactional' })]

  test('is skipped for the reasons of the engine, and the enrolment goes on', () => {
    const reasons = (more: Partial<Simulation['contact']>) => run({ steps }, contact(more)).sends.map(([one]) => one)
    expect(reasons({ hasOptIn: () => false })).toEqual(['a no_opt_in', 'p'])
    expect(reasons({ addressOf: () => null })).toEqual(['a no_address', 'p no_address'])
    expect(reasons({ isSuppressed: () => true })).toEqual(['a suppressed', 'p suppressed'])
  })

  test('is asked about by its channel', () => {
    const both = [send('a'), send('s', { channel: 'sms' })]
    const hasOptIn = (channel: string) => channel === 'sms'
    expect(run({ steps: both }, contact({ hasOptIn })).sends.map(([one]) => one)).toEqual(['a no_opt_in', 's'])
  })

  test('is not for those who are held out', () => {
    const ids = Array.from({ length: 50 }, (_, index) => `contact-${index}`)
    for (const contactId of ids) {
      const isOut = isHeldOut({ contactId, campaignId: 'welcome', holdOut: 50 })
      const sends = run({ steps, holdOut: 50 }, contact({ contactId })).sends.map(([one]) => one)
      expect(sends).toEqual([isOut ? 'a held_out' : 'a', 'p'])
    }
  })

  test('waits for the end of quiet hours in the zone of the contact, unless it is the first', () => {
    const night = { quietHours: { from: '21:00', to: '09:00' } }
    const body = { steps: [send('a'), send('b')], ...night }
    expect(sendsOf(body, contact({ zone: 'Asia/Tokyo' }))).toEqual([
      ['a', 0],
      ['b', 0],
    ])
    expect(sendsOf(body, contact({ zone: 'America/New_York' }))).toEqual([
      ['a', 0],
      ['b', 4 * HOUR],
    ])
  })
})

describe('caps', () => {
  const steps = [send('a'), send('b'), send('c')]
  const capped = (whenReached: string, atMost = 2) => ({
    steps,
    caps: [{ channel: 'email', atMost, days: 2, whenReached }],
  })

  test('count the sends of the simulation', () => {
    expect(sendsOf(capped('skip'))).toEqual([
      ['a', 0],
      ['b', 0],
      ['c cap', 0],
    ])
    expect(sendsOf(capped('wait', 1))).toEqual([
      ['a', 0],
      ['b', 2 * DAY],
      ['c', 4 * DAY],
    ])
  })

  test('count what was really sent by the channel', () => {
    const sent = (channel: 'email' | 'sms', at: number) => contact({ sent: [{ channel, at: NOW + at }] })
    expect(sendsOf(capped('skip'), sent('email', -DAY)).map(([one]) => one)).toEqual(['a', 'b cap', 'c cap'])
    for (const [channel, at] of [
      ['sms', -DAY],
      ['email', -2 * DAY],
    ] as const)
      expect(sendsOf(capped('skip'), sent(channel, at)).map(([one]) => one)).toEqual(['a', 'b', 'c cap'])
  })

  test('do not count what failed', () => {
    const { sends } = runSimulation(simulationOf(capped('skip')), ['a'])
    expect(sends.map(([one]) => one)).toEqual(['a', 'b', 'c'])
  })

  test('make a first send wait for quiet hours, too', () => {
    const body = { ...capped('wait', 1), steps: [send('a')], quietHours: { from: '09:30', to: '12:00' } }
    expect(sendsOf(body)).toEqual([['a', 0]])
    expect(sendsOf(body, contact({ sent: [{ channel: 'email', at: NOW - DAY }] }))).toEqual([['a', DAY + 2 * HOUR]])
  })
})

test('looks at as many instants as it may, and at none beyond', () => {
  const steps = [wait('w', 'P1D'), wait('v', 'P1D'), send('a')]
  expect(run({ steps }, { maxInstants: 3 })).toEqual({
    sends: [['a', NOW + 2 * DAY]],
    end: { kind: 'ended', state: 'finished', endsAt: NOW + 2 * DAY },
  })
  expect(run({ steps }, { maxInstants: 2 })).toEqual({ sends: [], end: { kind: 'too_many_instants' } })
})

test('the longest campaign ends within its instants', () => {
  const caps = [{ channel: 'email', atMost: 1, days: 365 }]
  const steps = Array.from({ length: 200 }, (_, index) => send(`s${index}`))
  const answers = Array.from({ length: 100 }, (_, index) => ({ event: 'paid', at: NOW + 9e13 + index }))
  const { sends, end } = run({ steps, caps, quietHours: { from: '09:59', to: '10:01' } }, { answers })
  expect(sends).toHaveLength(200)
  expect(end).toMatchObject({ state: 'finished' })
})

test('says before each send what comes', () => {
  const moves = simulate(simulationOf(SERIES))
  expect(moves.next()).toMatchObject({ done: false, value: { step: { id: 'a' }, at: NOW, reason: null } })
})
