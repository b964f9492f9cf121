/** What a recurring task finds, told to those who wait. */
import { expect, it, vi } from 'vitest'
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
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const ends: number[] = []
    const wait = async () => ends.push((await untilNextTick(200), performance.now()))
    const waits = [wait()]
    for (const ms of [20, 100]) {
      await vi.advanceTimersByTimeAsync(ms)
      waits.push(wait())
    }
    await vi.advanceTimersByTimeAsync(200)
    await Promise.all(waits)
    expect(new Set(ends).size).toBe(1)
    expect((ends[0] ?? NaN) % 200).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

it('a beat ends with the signal', async () => {
  const began = performance.now()
  await untilNextTick(60_000, AbortSignal.timeout(10))
  await untilNextTick(60_000, AbortSignal.abort())
  expect(performance.now() - began).toBeLessThan(atLoad(5000))
})
