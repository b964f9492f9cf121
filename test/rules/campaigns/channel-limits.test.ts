import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChannelLimits, type ChannelUse, UNUSED, takeTurn } from '../../../src/rules/campaigns/channel-limits.ts'
import { runs } from '../../support/runs.ts'

const START = Date.parse('2026-03-02T12:00:00.000Z')
const HOUR = 3_600_000

/** Returns a channel whose turns are taken one after the other. */
function channelOf(limits: Omit<ChannelLimits, 'reserve'>, zone = 'UTC') {
  let use: ChannelUse = UNUSED
  return (now: number, isQueued = false): number | string => {
    const taken = takeTurn(use, { ...limits, reserve: 0 }, { now, zone, isQueued, isMarketing: true })
    use = taken.use
    return taken.turn.kind === 'taken' ? 'taken' : taken.turn.until
  }
}

describe('per second', () => {
  it('is the most in one second, and the others are spread over the next ones', () => {
    const take = channelOf({ perSecond: 4, dailyBudget: null })
    const asked = Array.from({ length: 11 }, () => take(START + 300))
    const places = [1000, 1250, 1500, 1750, 2000, 2250, 2500].map((ms) => START + ms)
    expect(asked).toEqual(['taken', 'taken', 'taken', 'taken', ...places])
  })

  it('gives a turn of the present second to a message that comes in time, and the queue goes on behind', () => {
    const take = channelOf({ perSecond: 2, dailyBudget: null })
    expect([0, 0, 0, 0].map((ms) => take(START + ms))).toEqual(['taken', 'taken', START + 1000, START + 1500])
    expect(take(START + 1000, true)).toBe('taken')
    expect(take(START + 1200)).toBe('taken')
    // It comes before messages that have not had a place yet.
    expect(take(START + 1500, true)).toBe(START + 2000)
    expect(take(START + 1600)).toBe(START + 2500)
  })

  it('gives everybody of a queue that fell due at once a place in their order', () => {
    const take = channelOf({ perSecond: 2, dailyBudget: null })
    const late = Array.from({ length: 6 }, () => take(START, true))
    expect(late).toEqual(
      ['taken', 'taken', 1000, 1500, 2000, 2500].map((at) => (at === 'taken' ? at : START + Number(at))),
    )
  })

  it('counts by the latest clock when those of two workers differ', () => {
    const take = channelOf({ perSecond: 1, dailyBudget: null })
    expect(take(START + 2000)).toBe('taken')
    expect(take(START)).toBe(START + 3000)
  })

  it.each([1, 3, 7, 999, 1000, 1001, 10_000])('places %i in a second, none in the next', (perSecond) => {
    const take = channelOf({ perSecond, dailyBudget: null })
    for (let turn = 0; turn < perSecond; turn++) expect(take(START)).toBe('taken')
    const places = Array.from({ length: 3 * perSecond }, () => Number(take(START)))
    const seconds = places.map((at) => Math.floor((at - START) / 1000))
    for (const second of [1, 2, 3]) expect(seconds.filter((one) => one === second)).toHaveLength(perSecond)
  })
})

describe('a call', () => {
  it('that expires before its place gets none, so that it keeps no turn from others', () => {
    const limits = { perSecond: 1, dailyBudget: null, reserve: 0 }
    let use = UNUSED
    const ask = (now: number, isCall: boolean) => {
      const more = { isQueued: false, isMarketing: !isCall, isCall, ...(isCall && { expiresAt: START + 3000 }) }
      const taken = takeTurn(use, limits, { now, zone: 'UTC', ...more })
      use = taken.use
      return taken.turn.kind
    }
    for (let calls = 0; calls < 100; calls += 1) ask(START, true)
    expect(ask(START + 2500, false)).toBe('wait')
    expect(ask(START + 3000, false)).toBe('taken')
  })

  /** Returns a channel whose turns are taken by calls and by others. */
  function channelOfBoth(perSecond: number) {
    let use: ChannelUse = UNUSED
    return (now: number, isCall: boolean, isQueued = false): number | string => {
      const limits = { perSecond, dailyBudget: null, reserve: 0 }
      const taken = takeTurn(use, limits, { now, zone: 'UTC', isQueued, isCall, isMarketing: !isCall })
      use = taken.use
      return taken.turn.kind === 'taken' ? 'taken' : taken.turn.until
    }
  }

  it('has the first place of the next second, however many wait for it, and no other message gets that', () => {
    const take = channelOfBoth(2)
    for (let many = 0; many < 100; many += 1) take(START, false)
    expect(take(START, true)).toBe(START + 1000)
    expect([take(START + 1000, false, true), take(START + 1000, false, true)]).toEqual(['taken', START + 2000])
    expect(take(START + 1000, true, true)).toBe('taken')
  })

  it('takes a free turn at once', () => {
    const take = channelOfBoth(2)
    expect([take(START, false), take(START, true), take(START, true)]).toEqual(['taken', 'taken', START + 1000])
  })

  it('is out in the next seconds, and no second has more than its turns, in any order of claims', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3 })), { maxLength: 60 }),
        (perSecond, asked) => {
          const take = channelOfBoth(perSecond)
          const sent = new Map<number, number>()
          const waiting: { at: number; isCall: boolean; since: number }[] = []
          const late: number[] = []
          const ask = (now: number, isCall: boolean, since: number, isQueued: boolean) => {
            const answer = take(now, isCall, isQueued)
            const second = Math.floor(now / 1000)
            if (typeof answer === 'number') waiting.push({ at: answer, isCall, since })
            else {
              sent.set(second, (sent.get(second) ?? 0) + 1)
              if (isCall) late.push(second - since)
            }
          }
          let second = START / 1000
          const turn = () => {
            // Others claim first.
            const due = waiting
              .filter(({ at }) => at < (second + 1) * 1000)
              .toSorted((a, b) => Number(a.isCall) - Number(b.isCall))
            for (const one of due) {
              waiting.splice(waiting.indexOf(one), 1)
              ask(Math.max(one.at, second * 1000), one.isCall, one.since, true)
            }
          }
          for (const [isCall, steps] of asked) {
            for (let step = 0; step < steps; step += 1) {
              second += 1
              turn()
            }
            ask(second * 1000 + 999, isCall, second, false)
          }
          const calls = asked.filter(([isCall]) => isCall).length
          for (let more = 0; waiting.some(({ isCall }) => isCall) && more < 200; more += 1) {
            second += 1
            turn()
          }
          expect(Math.max(0, ...sent.values())).toBeLessThanOrEqual(perSecond)
          expect(late).toHaveLength(calls)
          // Behind other calls alone.
          expect(Math.max(0, ...late)).toBeLessThanOrEqual(Math.ceil(calls / perSecond))
        },
      ),
      { numRuns: runs(500) },
    )
  })
})

describe('the budget of a day', () => {
  it('is the most until midnight of the business', () => {
    const take = channelOf({ perSecond: null, dailyBudget: 2 }, 'America/New_York')
    const midnight = Date.parse('2026-03-03T05:00:00.000Z')
    expect([take(START), take(START), take(START)]).toEqual(['taken', 'taken', midnight])
    expect(take(midnight - 1)).toBe(midnight)
    expect([take(midnight), take(midnight), take(midnight)]).toEqual(['taken', 'taken', midnight + 24 * HOUR])
  })

  it.each([
    ['a day of 23 hours', 'Europe/Berlin', '2026-03-29T00:00:00+01:00', 23],
    ['a day of 25 hours', 'Europe/Berlin', '2026-10-25T00:00:00+02:00', 25],
    ['a day that begins at 01:00', 'Africa/Cairo', '2026-04-24T01:00:00+03:00', 23],
    ['a day whose midnight comes twice', 'America/Havana', '2025-11-02T00:00:00-04:00', 25],
  ])('is for %s, too', (_, zone, begins, hours) => {
    const take = channelOf({ perSecond: null, dailyBudget: 1 }, zone)
    const day = Date.parse(begins)
    const end = day + hours * HOUR
    expect([take(day - 1), take(day), take(day + HOUR), take(end - 1)]).toEqual(['taken', 'taken', end, end])
    expect(take(end)).toBe('taken')
  })

  it('is not used by what has to wait for its second', () => {
    const take = channelOf({ perSecond: 1, dailyBudget: 2 })
    expect([take(START), take(START), take(START + 1000, true)]).toEqual(['taken', START + 1000, 'taken'])
    expect(take(START + 1500)).toBe(Date.parse('2026-03-03T00:00:00.000Z'))
  })
})

interface Waiting {
  at: number
  isQueued: boolean
}

it('whatever comes when, and however late: no second and no day has more, and all have their turn', () => {
  const arrivals = fc.array(
    fc.record({ ms: fc.integer({ min: 0, max: 5000 }), lateMs: fc.integer({ min: 0, max: 1500 }) }),
    {
      minLength: 1,
      maxLength: 60,
    },
  )
  const given = [
    arrivals,
    fc.integer({ min: 1, max: 9 }),
    fc.option(fc.integer({ min: 1, max: 40 })),
    fc.boolean(),
  ] as const
  fc.assert(
    fc.property(...given, (asked, perSecond, dailyBudget, isNight) => {
      const zone = 'Europe/Berlin'
      const start = isNight ? Date.parse('2026-03-28T22:59:58.000Z') : START
      const take = channelOf({ perSecond, dailyBudget }, zone)
      const sent: number[] = []
      let waiting: (Waiting & { lateMs: number })[] = asked.map(({ ms, lateMs }) => ({
        at: start + ms,
        lateMs,
        isQueued: false,
      }))
      for (let round = 0; waiting.length > 0; round++) {
        expect(round).toBeLessThan(5000)
        waiting.sort((one, other) => one.at + one.lateMs - (other.at + other.lateMs))
        const [next, ...others] = waiting
        const now = next!.at + next!.lateMs
        const turn = take(now, next!.isQueued)
        if (turn === 'taken') sent.push(now)
        else expect(turn).toBeGreaterThan(now)
        const lateMs = round % 3 === 0 ? next!.lateMs : 0
        waiting = turn === 'taken' ? others : [...others, { at: Number(turn), lateMs, isQueued: true }]
      }
      const most = (keyOf: (at: number) => string | number) =>
        Math.max(...[...Map.groupBy(sent, keyOf).values()].map(({ length }) => length))
      expect(sent).toHaveLength(asked.length)
      expect(most((at) => Math.floor(at / 1000))).toBeLessThanOrEqual(perSecond)
      const dayOf = (at: number) => new Date(at).toLocaleDateString('sv', { timeZone: zone })
      if (dailyBudget !== null) expect(most(dayOf)).toBeLessThanOrEqual(dailyBudget)
    }),
    { numRuns: runs(300) },
  )
})
