/** What the branches of a backtest read from a history as the clock of the backtest advances. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EarlierEvents, PastEvent } from '../../src/campaigns/backtest/load-histories.ts'
import { followChoices, followEvents } from '../../src/campaigns/backtest/past-facts.ts'
import { STAGES } from '../../src/rules/events/journey-stage.ts'
import { runs } from '../support/runs.ts'

const EARLIER: EarlierEvents = {
  event: 'opened',
  firstAt: 1,
  lastAt: 3,
  count: 2,
  orders: 0,
  currency: '',
  amount: '0',
}
const eventOf = (receivedAt: number, more: Partial<PastEvent> = {}): PastEvent => ({
  event: 'opened',
  at: receivedAt,
  receivedAt,
  source: 'live',
  visitorId: null,
  type: 'none',
  value: null,
  currency: null,
  amount: '0',
  isOrder: 0,
  properties: '',
  ...more,
})
const order = (receivedAt: number, amount: string) =>
  eventOf(receivedAt, { event: 'purchase', currency: 'USD', amount, isOrder: 1 })

describe('events', () => {
  test('count from their receipt on, beside those from before', () => {
    const at = followEvents({
      earlier: [EARLIER],
      events: [eventOf(10, { at: 2 }), order(10, '0.1'), order(20, '0.2')],
    })
    const opened = { firstAt: 1, lastAt: 3 }
    expect(at(9)).toMatchObject({ orderCount: 0, statistics: new Map([['opened', { ...opened, count: 2 }]]) })
    expect(at(10)).toEqual({
      orderCount: 1,
      stage: STAGES.indexOf('Decision'),
      revenue: new Map([['USD', '0.1']]),
      statistics: new Map([
        ['opened', { ...opened, count: 3 }],
        ['purchase', { firstAt: 10, lastAt: 10, count: 1 }],
      ]),
    })
    expect(at(20)).toMatchObject({ orderCount: 2, revenue: new Map([['USD', '0.3']]) })
  })

  test('are each added once, however often a replay asks', () => {
    let added = 0
    const events = Array.from({ length: 1000 }, (_, n) => ({
      ...eventOf(n),
      get isOrder() {
        added += 1
        return 1 as const
      },
    }))
    const at = followEvents({ earlier: [], events })
    for (let now = 0; now < 1000; now++)
      for (let again = 0; again < 3; again++) expect(at(now).orderCount).toBe(now + 1)
    expect(added).toBe(1000)
  })
})

test('whatever is asked before, an instant has the same answer', () => {
  const instant = fc.nat(30)
  const events = fc.array(fc.record({ at: instant, amount: fc.constantFrom('0', '2.5', '-1') }), { maxLength: 20 })
  const choices = fc.array(fc.record({ at: instant, subscribed: fc.boolean() }), { maxLength: 10 })
  const byTime = (one: { at: number }, other: { at: number }) => one.at - other.at
  fc.assert(
    fc.property(events, choices, fc.array(instant), (happened, chosen, asked) => {
      const history = {
        earlier: [EARLIER],
        events: happened.toSorted(byTime).map(({ at, amount }) => order(at, amount)),
      }
      const person = { choices: chosen.toSorted(byTime).map((one) => ({ channel: 'email' as const, ...one })) }
      const [eventsAt, choicesAt] = [followEvents(history), followChoices(person)]
      for (const now of asked) {
        const until = happened.filter(({ at }) => at <= now)
        expect(eventsAt(now)).toEqual(followEvents(history)(now))
        expect(eventsAt(now).orderCount).toBe(until.length)
        expect(choicesAt(now).email?.subscribed).toBe(person.choices.findLast(({ at }) => at <= now)?.subscribed)
      }
    }),
    { numRuns: runs(200) },
  )
})
