/** What a recurring task finds, told to those who wait. */
import { expect, it } from 'vitest'
import { untilBeat } from '../../src/stream/pause.ts'
import { createTurns } from '../../src/stream/turns.ts'

const open = new AbortController().signal

it('a turn that began before the question does not answer it, the next one does', async () => {
  const turns = createTurns<string>()
  const tellEarlier = turns.begin()
  const asked = Promise.all([turns.next(10_000, open), turns.next(10_000, open)])
  tellEarlier('stale')
  turns.begin()('fresh')
  expect(await asked).toEqual(['fresh', 'fresh'])
})

it('a turn that finds nothing leaves the question to those after it', async () => {
  const turns = createTurns<string>()
  const asked = turns.next(50, open)
  turns.begin()
  expect(await asked).toBeUndefined()
})

it('nobody waits longer than they said, or after the signal', async () => {
  const turns = createTurns<string>()
  const began = performance.now()
  expect(await turns.next(20, open)).toBeUndefined()
  expect(await turns.next(10_000, AbortSignal.timeout(20))).toBeUndefined()
  expect(await turns.next(10_000, AbortSignal.abort())).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(2000)
})

it('a beat falls on the full multiple, for all who wait, however late they began', async () => {
  await untilBeat(200)
  const began = performance.now()
  expect(began % 200).toBeLessThan(100)
  await Promise.all([untilBeat(200), new Promise((resolve) => setTimeout(resolve, 120)).then(() => untilBeat(200))])
  expect(performance.now() - began).toBeLessThan(300)
  await untilBeat(60_000, AbortSignal.timeout(10))
  expect(performance.now() - began).toBeLessThan(2000)
})
