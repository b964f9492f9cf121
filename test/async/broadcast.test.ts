/** What a recurring task finds, told to those who wait. */
import { expect, it } from 'vitest'
import { untilNextTick } from '../../src/async/sleep.ts'
import { createBroadcast } from '../../src/async/broadcast.ts'
import { atLoad } from '../support/at-load.ts'

const open = new AbortController().signal

it('a turn that began before the question does not answer it, the next one does', async () => {
  const turns = createBroadcast<string>()
  const tellEarlier = turns.begin()
  const asked = Promise.all([turns.next(10_000, open), turns.next(10_000, open)])
  tellEarlier('stale')
  turns.begin()('fresh')
  expect(await asked).toEqual(['fresh', 'fresh'])
})

it('a turn that finds nothing leaves the question to those after it', async () => {
  const turns = createBroadcast<string>()
  const asked = turns.next(10_000, open)
  turns.begin()
  turns.begin()('found')
  expect(await asked).toBe('found')
  const askedInVain = turns.next(50, open)
  turns.begin()
  expect(await askedInVain).toBeUndefined()
})

it('nobody waits longer than they said, or after the signal', async () => {
  const turns = createBroadcast<string>()
  const began = performance.now()
  expect(await turns.next(20, open)).toBeUndefined()
  expect(await turns.next(10_000, AbortSignal.timeout(20))).toBeUndefined()
  expect(await turns.next(10_000, AbortSignal.abort())).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(atLoad(2000))
})

it('a beat is the same for all who wait for it, however late they began', async () => {
  let together = 0
  // A busy machine may stall in one or two of them.
  for (let round = 0; round < 5; round += 1) {
    await untilNextTick(200)
    const ends = async (afterMs: number) => {
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      await untilNextTick(200)
      return performance.now()
    }
    const [first, second] = await Promise.all([ends(20), ends(120)])
    if (Math.abs(first - second) < 50) together += 1
  }
  expect(together).toBeGreaterThanOrEqual(3)
})

it('a beat ends with the signal', async () => {
  const began = performance.now()
  await untilNextTick(60_000, AbortSignal.timeout(10))
  await untilNextTick(60_000, AbortSignal.abort())
  expect(performance.now() - began).toBeLessThan(atLoad(5000))
})
