import { setImmediate } from 'node:timers'
import { describe, expect, it } from 'vitest'
import { createTimeoutGuard } from '../../src/async/with-timeout.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const WAIT_MS = 50
const patient = createTimeoutGuard(5000, 'Redis')
const inTime = createTimeoutGuard(WAIT_MS, 'Redis')

const stack = useOpened(openStack)

it('passes on what is answered in time, and what fails', async () => {
  expect(await patient(stack.redis.ping())).toBe('PONG')
  await expect(patient(stack.redis.call('NONSENSE'))).rejects.toThrow('unknown command')
})

it('rejects what is not answered in time, and not before', async () => {
  const started = performance.now()
  await expect(inTime(new Promise(() => {}))).rejects.toThrow(`Redis has not answered within ${WAIT_MS} ms`)
  expect(performance.now() - started).toBeGreaterThanOrEqual(WAIT_MS)
})

it('takes an answer for in time that came while this process was too busy to read it', async () => {
  const another = stack.redis.duplicate()
  // After this answer, the event loop first runs its timers and then reads its sockets.
  await another.ping()
  const answer = inTime(stack.redis.ping())
  beBusy(20 * WAIT_MS)
  expect(await answer).toBe('PONG')
  another.disconnect()
})

describe('while this process is busy all the time', () => {
  it('looks more than once', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const rest = neverRest((turn) => turn === 5 && resolve('late'))
    expect(await inTime(promise)).toBe('late')
    rest()
  })

  it('gives up nevertheless', async () => {
    const rest = neverRest()
    await expect(inTime(new Promise(() => {}))).rejects.toThrow('has not answered')
    rest()
  })
})

function beBusy(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until) continue
}

/** Keeps the event loop busy, iteration after iteration. `onTurn` is called at the end of each iteration. */
function neverRest(onTurn: (turn: number) => unknown = () => undefined): () => void {
  let rests = false
  const work = (turn: number): void => {
    beBusy(30)
    onTurn(turn)
    if (!rests) setImmediate(work, turn + 1)
  }
  setImmediate(work, 1)
  return () => {
    rests = true
  }
}
