import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { batchLookups } from '../../src/front-door/access/batch-lookups.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const tick = () => new Promise((resolve) => setImmediate(resolve))

function setUp(answer = async (keys: string[]) => new Map(keys.map((key) => [key, key.toUpperCase()]))) {
  const find = vi.fn<typeof answer>(answer)
  return { asked: () => find.mock.calls.map(([keys]) => keys), ask: batchLookups(find) }
}

it('asks at once, and once, for all that callers of one tick wait for', async () => {
  const { asked, ask } = setUp()
  expect(await Promise.all([ask('a', false), ask('b', false), ask('a', false)])).toEqual(['A', 'B', 'A'])
  expect(asked()).toEqual([['a', 'b']])
  expect(await ask('a', false)).toBe('A')
  expect(asked()).toEqual([['a', 'b'], ['a']])
})

it('returns null for a key that is not found', async () => {
  const { ask } = setUp(async () => new Map([['a', 'A']]))
  expect(await Promise.all([ask('a', false), ask('b', false)])).toEqual(['A', null])
})

it('gathers keys that no caller waits for, and asks for them together with one that a caller waits for', async () => {
  const { asked, ask } = setUp()
  const renewed = [ask('a', true)]
  vi.advanceTimersByTime(24)
  renewed.push(ask('b', true))
  await tick()
  expect(asked()).toEqual([])
  vi.advanceTimersByTime(1)
  expect(await Promise.all(renewed)).toEqual(['A', 'B'])
  expect(asked()).toEqual([['a', 'b']])

  const beside = ask('c', true)
  expect(await ask('d', false)).toBe('D')
  expect(await beside).toBe('C')
  expect(asked().slice(1)).toEqual([['c', 'd']])
  vi.advanceTimersByTime(100)
  await tick()
  expect(asked()).toHaveLength(2)
})

it('fails for those who asked together, and not for later callers', async () => {
  let isAway = true
  const { ask } = setUp(async (keys) => {
    if (isAway) throw new Error('away')
    return new Map(keys.map((key) => [key, key]))
  })
  const both = await Promise.allSettled([ask('a', false), ask('b', true)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isAway = false
  expect(await ask('a', false)).toBe('a')
})

it('asks for a thousand at a time', async () => {
  const { asked, ask } = setUp()
  await Promise.all(Array.from({ length: 1001 }, (_, n) => ask(String(n), false)))
  expect(asked().map(({ length }) => length)).toEqual([1000, 1])
})
