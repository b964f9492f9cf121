import { expect, it } from 'vitest'
import { createSharedTimeouts, type TimeoutClock } from '../../src/async/shared-timeouts.ts'

/** A clock that moves only by `pass`. */
function createClock(): TimeoutClock & { pass(ms: number): void } {
  let now = 0
  const waiting = new Set<{ at: number; wake: () => void }>()
  return {
    now: () => now,
    wakeIn(ms, wake) {
      const one = { at: now + ms, wake }
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    pass(ms) {
      const until = now + ms
      for (;;) {
        const [next] = [...waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
        if (!next) break
        waiting.delete(next)
        now = next.at
        next.wake()
      }
      now = until
    },
  }
}

function setUp(ms: number) {
  const { pass, ...clock } = createClock()
  const timeouts = createSharedTimeouts(ms, clock)
  const late: string[] = []
  return { timeouts, late, pass, begin: (name: string) => timeouts.begin(() => late.push(name)) }
}

it('ends each when its own time is over, in the order in which they began', () => {
  const { late, begin, pass } = setUp(400)
  begin('a')
  begin('b')
  pass(240)
  begin('c')
  expect(late).toEqual([])
  pass(280)
  expect(late).toEqual(['a', 'b'])
  pass(280)
  expect(late).toEqual(['a', 'b', 'c'])
})

it('says nothing of those that ended before, and goes on with those that begin later', () => {
  const { timeouts, late, begin, pass } = setUp(200)
  timeouts.end(begin('a'))
  pass(320)
  begin('b')
  const c = begin('c')
  timeouts.end(c)
  timeouts.end(c)
  pass(320)
  expect(late).toEqual(['b'])
})

it('takes in what begins as another ends, and keeps nobody waiting for it', () => {
  const { timeouts, late, begin, pass } = setUp(400)
  timeouts.begin(() => begin('next'))
  pass(200)
  begin('other')
  pass(480)
  expect(late).toEqual(['other'])
  pass(320)
  expect(late).toEqual(['other', 'next'])
})

it('ends nothing once it is closed', () => {
  const { timeouts, late, begin, pass } = setUp(80)
  begin('a')
  timeouts.close()
  pass(200)
  expect(late).toEqual([])
})
