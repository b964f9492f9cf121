import { describe, expect, test } from 'vitest'
import { type Facts, type Move, type Position, advance } from '../../../src/rules/campaigns/advance.ts'
import { shareOf } from '../../../src/rules/campaigns/stable-hash.ts'
import { EXIT, RULE, SEND, WAIT, definitionOf } from './read.ts'

const NOW = Date.UTC(2026, 0, 5, 10)
const DAY = 86_400_000

const factsOf = (more: Partial<Facts> = {}): Facts => ({
  testRule: () => {
    throw new Error('no rule was to be tested')
  },
  awaitedEventAt: () => {
    throw new Error('no event was to be looked for')
  },
  timezone: () => {
    throw new Error('no zone was asked for')
  },
  ...more,
})

/** Returns the move from `position`. Ids of steps default to `made-1`, `made-2` and so on. */
const move = (steps: unknown[], position: Move['position'], more: Partial<Move> = {}) =>
  advance({ definition: definitionOf({ steps }), contactId: 'ada', position, now: NOW, facts: factsOf(), ...more })
const at = (stepId: string, since = NOW, isFirst = false): Position => ({ stepId, since, isFirst })

test('a campaign without steps keeps its contacts', () => {
  expect(move([], null)).toEqual({ kind: 'stay', entered: [] })
})

describe('a send', () => {
  const twice = [
    { ...SEND, id: 'one' },
    { ...SEND, id: 'two' },
  ]

  test('is at once when it is the first step, and not after another send', () => {
    expect(move(twice, null)).toMatchObject({
      kind: 'send',
      position: at('one', NOW, true),
      step: { id: 'one' },
      isImmediate: true,
      entered: ['one'],
    })
    const next = move(twice, { done: at('one', NOW - 5, true) })
    expect(next).toMatchObject({ kind: 'send', position: at('two'), isImmediate: false, entered: ['two'] })
    expect(move(twice, { done: at('two') })).toEqual({ kind: 'finish', entered: [] })
  })

  test('stays where it is until it is settled', () => {
    expect(move(twice, at('one', NOW - DAY, true))).toMatchObject({
      kind: 'send',
      position: at('one', NOW - DAY, true),
      isImmediate: true,
      entered: [],
    })
  })

  test('is not at once after a wait, unless it is transactional', () => {
    const position = at('w', NOW - 3 * DAY, true)
    const after = (send: object) => move([{ ...WAIT, id: 'w' }, send], position)
    expect(after(SEND)).toMatchObject({ kind: 'send', isImmediate: false })
    expect(after({ ...SEND, kind: 'transactional' })).toMatchObject({ kind: 'send', isImmediate: true })
  })

  test('is at once after steps that take no time', () => {
    const branch = { type: 'branch', rule: RULE, steps: [{ type: 'split', parts: [{ percent: 100, steps: [SEND] }] }] }
    const action = move([branch], null, { facts: factsOf({ testRule: () => true }) })
    expect(action).toMatchObject({ kind: 'send', isImmediate: true, entered: ['made-1', 'made-2', 'made-3'] })
  })
})

describe('a wait', () => {
  const steps = [
    { ...WAIT, id: 'w' },
    { type: 'wait', for: 'PT1H', id: 'next' },
  ]

  test('is due to the millisecond, and the next step begins when it is reached', () => {
    const [position, dueAt] = [at('w', NOW, true), NOW + 3 * DAY]
    expect(move(steps, null)).toEqual({ kind: 'wait', position, dueAt, listensFor: null, entered: ['w'] })
    expect(move(steps, position, { now: dueAt - 1 })).toMatchObject({ kind: 'wait', position, entered: [] })
    expect(move(steps, position, { now: dueAt })).toMatchObject({ position: at('next', dueAt), entered: ['next'] })
    expect(move(steps, position, { now: dueAt + 5 })).toMatchObject({ position: at('next', dueAt + 5) })
  })

  test('until a local time is computed again when the zone changes, and over at once when that is past', () => {
    const nine = [{ type: 'wait_until', time: '09:00', weekdays: [2] }]
    const inZone = (zone: string, now = NOW) =>
      move(nine, at('made-1', NOW, true), { now, facts: factsOf({ timezone: () => zone }) })
    expect(inZone('Europe/Berlin')).toMatchObject({ kind: 'wait', dueAt: Date.UTC(2026, 0, 6, 8) })
    expect(inZone('America/New_York')).toMatchObject({ kind: 'wait', dueAt: Date.UTC(2026, 0, 6, 14) })
    expect(inZone('Asia/Tokyo', Date.UTC(2026, 0, 6, 1))).toEqual({ kind: 'finish', entered: [] })
  })
})

describe('a wait for an event', () => {
  const steps = [{ type: 'wait_for', event: 'visit', timeout: 'P1D', id: 'w', steps: [SEND], otherwise: [EXIT] }, WAIT]
  const position = at('w')
  const dueAt = NOW + DAY
  const look = (now: number, happenedAt: number | null) =>
    move(steps, position, { now, facts: factsOf({ awaitedEventAt: () => happenedAt }) })

  test('listens, and asks for the event since its beginning', () => {
    const asked: unknown[] = []
    const awaitedEventAt: Facts['awaitedEventAt'] = (...question) => (asked.push(question), null)
    const action = move(steps, position, { now: dueAt - 1, facts: factsOf({ awaitedEventAt }) })
    expect(action).toMatchObject({ kind: 'wait', position, dueAt, listensFor: { event: 'visit' }, entered: [] })
    expect(asked).toEqual([[expect.objectContaining({ event: 'visit' }), NOW]])
  })

  test('ends by whichever is earlier, also when both are known late', () => {
    expect(look(NOW + 5, NOW)).toMatchObject({ kind: 'send', position: at('made-1', NOW + 5), isImmediate: false })
    expect(look(dueAt + 5, dueAt)).toMatchObject({ kind: 'send' })
    expect(look(dueAt + 5, dueAt + 1)).toEqual({ kind: 'finish', entered: ['made-2'] })
    expect(look(dueAt, null)).toEqual({ kind: 'finish', entered: ['made-2'] })
    // Dated in the future, after the timeout.
    expect(look(dueAt - 1, dueAt + 1)).toMatchObject({ kind: 'wait', dueAt })
  })

  test('may have nothing inside, and goes on below', () => {
    const short = [{ type: 'wait_for', event: 'visit', timeout: 'P1D', id: 'w' }, WAIT]
    const facts = factsOf({ awaitedEventAt: () => NOW })
    expect(move(short, position, { facts })).toMatchObject({ kind: 'wait', position: at('made-1') })
  })
})

test('a branch goes by its rule, and on below', () => {
  const branch = { type: 'branch', rule: RULE, id: 'b', steps: [{ ...WAIT, id: 'yes' }], otherwise: [] }
  const go = (is: boolean) =>
    move([branch, { ...SEND, id: 'below' }], null, {
      facts: factsOf({ testRule: (rule, stepId) => is && stepId === 'b' && 'tag' in rule }),
    })
  expect(go(true)).toMatchObject({ kind: 'wait', entered: ['b', 'yes'] })
  expect(go(false)).toMatchObject({ kind: 'send', entered: ['b', 'below'] })
})

test('a split sends each person the same way, and as many each way as it says', () => {
  const part = (id: string, percent: number) => ({ percent, steps: [{ ...WAIT, id }] })
  const definition = definitionOf({
    steps: [{ type: 'split', id: 's', parts: [part('a', 20), part('b', 79.99), part('c', 0.01)] }],
  })
  const wayOf = (contactId: string, now = NOW) => {
    const { entered } = advance({ definition, contactId, position: null, now, facts: factsOf() })
    return entered[1] ?? ''
  }
  const ways = Array.from({ length: 20_000 }, (_, index) => wayOf(`contact-${index}`))
  const expected = (share: number) => (share < 2000 ? 'a' : share < 9999 ? 'b' : 'c')
  expect(ways).toEqual(ways.map((_, index) => expected(shareOf('split', `contact-${index}`, 's'))))
  expect(Math.abs(ways.filter((way) => way === 'a').length - 4000)).toBeLessThan(300)
  expect(ways.every((way, index) => index % 100 > 0 || wayOf(`contact-${index}`, NOW + DAY) === way)).toBe(true)
  expect(new Set(ways).size).toBe(3)
})

test('an exit ends it, also from inside', () => {
  const branch = { type: 'branch', rule: RULE, steps: [EXIT] }
  const action = move([branch, SEND], null, { facts: factsOf({ testRule: () => true }) })
  expect(action).toEqual({ kind: 'finish', entered: ['made-1', 'made-2'] })
})

test('a position of another version is refused', () => {
  expect(() => move([WAIT], at('gone'))).toThrow('the campaign has no step gone in this version')
  expect(() => move([WAIT], { done: at('gone') })).toThrow('the campaign has no step gone in this version')
})
