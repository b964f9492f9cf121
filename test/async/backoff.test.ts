import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../src/async/backoff.ts'

test('grows with each failure up to its maximum, and is random by half', () => {
  const backoff = { firstMs: fc.integer({ min: 1, max: 1000 }), maxMs: fc.integer({ min: 1000, max: 1_000_000 }) }
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.record(backoff),
      fc.constantFrom(2, 3),
      (failures, given, factor) => {
        const longest = Math.min(given.maxMs, given.firstMs * factor ** (failures - 1))
        const ms = backoffMs(failures, { ...given, factor })
        expect(ms).toBeGreaterThanOrEqual(longest / 2)
        expect(ms).toBeLessThanOrEqual(longest)
      },
    ),
  )
})
