import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkCaps, longestWindow } from '../../../src/rules/campaigns/caps.ts'
import type { Cap } from '../../../src/rules/campaigns/definition.ts'
import { runs } from '../../support/runs.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 2, 1)
const cap = (more: Partial<Cap> = {}): Cap => ({ channel: 'email', atMost: 2, days: 7, whenReached: 'wait', ...more })
const judge = (caps: Cap[], sentAt: number[], now = NOW) => checkCaps(caps, { channel: 'email', sentAt, now })

test('allow as many sends as they say', () => {
  expect(judge([], [NOW, NOW])).toEqual({ kind: 'allowed' })
  expect(judge([cap()], [])).toEqual({ kind: 'allowed' })
  expect(judge([cap()], [NOW - DAY])).toEqual({ kind: 'allowed' })
  expect(judge([cap()], [NOW - DAY, NOW - 2 * DAY])).toEqual({ kind: 'wait', until: NOW + 5 * DAY, cap: cap() })
  expect(judge([cap({ channel: 'sms' })], [NOW, NOW])).toEqual({ kind: 'allowed' })
})

test('a send counts until its days have passed, to the millisecond', () => {
  const sentAt = [NOW - 7 * DAY, NOW]
  expect(judge([cap()], sentAt, NOW - 1)).toMatchObject({ kind: 'wait', until: NOW })
  expect(judge([cap()], sentAt, NOW)).toEqual({ kind: 'allowed' })
  // A message by another worker, whose clock is ahead.
  expect(judge([cap({ atMost: 1 })], [NOW + 5])).toMatchObject({ kind: 'wait', until: NOW + 5 + 7 * DAY })
})

test('after a cap was lowered, as many have to fall out as it takes', () => {
  const sentAt = [NOW - 1 * DAY, NOW - 3 * DAY, NOW - 2 * DAY]
  expect(judge([cap({ atMost: 1 })], sentAt)).toMatchObject({ until: NOW + 6 * DAY })
})

test('the cap that holds longest decides, and one that skips before those that wait', () => {
  const [short, long] = [cap({ atMost: 1, days: 1 }), cap({ atMost: 1, days: 30 })]
  expect(judge([short, long], [NOW])).toEqual({ kind: 'wait', until: NOW + 30 * DAY, cap: long })
  expect(judge([long, short], [NOW])).toEqual({ kind: 'wait', until: NOW + 30 * DAY, cap: long })
  const skips = cap({ atMost: 1, days: 0.5, whenReached: 'skip' })
  expect(judge([long, skips], [NOW])).toEqual({ kind: 'skip', cap: skips })
  expect(judge([long, skips], [NOW - DAY])).toMatchObject({ kind: 'wait' })
})

test('the longest window of a channel is how far back sends matter', () => {
  const caps = [cap({ days: 0.5 }), cap({ days: 3 }), cap({ channel: 'sms', days: 30 })]
  expect(longestWindow(caps, 'email')).toBe(3 * DAY)
  expect(longestWindow(caps, 'push')).toBe(0)
})

test('no window ever has more sends than allowed, and no send waits longer than it must', () => {
  const caps = fc.array(
    fc.record({
      channel: fc.constant('email' as const),
      atMost: fc.integer({ min: 1, max: 4 }),
      days: fc.double({ min: 1e-9, max: 1e-6, noNaN: true }),
      whenReached: fc.constant('wait' as const),
    }),
    { maxLength: 3 },
  )
  const wanted = fc.array(fc.nat(200), { maxLength: 20 })
  const counts = (one: Cap, sentAt: number[], at: number) =>
    sentAt.filter((sent) => sent <= at && sent > at - Math.ceil(one.days * DAY)).length
  const keeps = (caps: Cap[], sentAt: number[], at: number) => caps.every((one) => counts(one, sentAt, at) < one.atMost)
  fc.assert(
    fc.property(caps, wanted, (caps, wanted) => {
      const sentAt: number[] = []
      let clock = 0
      for (const wantedAt of wanted.sort((a, b) => a - b)) {
        clock = Math.max(clock, wantedAt)
        const verdict = judge(caps, sentAt, clock)
        const at = verdict.kind === 'wait' ? verdict.until : clock
        for (let before = clock; before < at; before++) expect(keeps(caps, sentAt, before)).toBe(false)
        expect(keeps(caps, sentAt, at)).toBe(true)
        expect(judge(caps, sentAt, at)).toEqual({ kind: 'allowed' })
        sentAt.push(at)
        clock = at
      }
    }),
    { numRuns: runs(1000) },
  )
})
