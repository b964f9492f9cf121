/** When refusals pause a channel. */
import { describe, expect, it } from 'vitest'
import {
  LEAST_MESSAGES,
  REFUSAL_WINDOW_MS,
  areTooMany,
  countedFrom,
} from '../../../src/rules/messages/too-many-refusals.ts'

describe('too many', () => {
  it.each([
    [0, 0, false],
    [1, 1, false],
    [LEAST_MESSAGES - 1, LEAST_MESSAGES - 1, false],
    [LEAST_MESSAGES, LEAST_MESSAGES, true],
    // A single refusal is never too many.
    [1, LEAST_MESSAGES, false],
    [2, LEAST_MESSAGES, true],
    [5, 100, false],
    [6, 100, true],
    [50, 1000, false],
    [51, 1000, true],
    [50, 999, true],
    // Late reports about earlier messages.
    [LEAST_MESSAGES - 1, 0, false],
    [LEAST_MESSAGES, 0, true],
  ])('%i of %i: %j', (refused, messages, expected) => expect(areTooMany({ refused, messages })).toBe(expected))
})

describe('what counts', () => {
  const NOW = 1_700_000_000_000
  it('is at most ten minutes old', () => {
    const from = countedFrom(NOW, 0)
    expect(NOW - 600_000 >= from).toBe(true)
    expect(NOW - 600_001 >= from).toBe(false)
    expect(from).toBe(NOW - REFUSAL_WINDOW_MS)
  })

  it('is later than the opening of the channel', () => {
    expect(countedFrom(NOW, NOW - 1)).toBe(NOW)
    expect(countedFrom(NOW, NOW)).toBe(NOW + 1)
    expect(countedFrom(NOW, NOW - REFUSAL_WINDOW_MS - 1)).toBe(NOW - REFUSAL_WINDOW_MS)
    expect(countedFrom(NOW, NOW - REFUSAL_WINDOW_MS)).toBe(NOW - REFUSAL_WINDOW_MS + 1)
  })
})
