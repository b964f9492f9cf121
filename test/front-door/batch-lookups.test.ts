import { expect, it, onTestFinished, vi } from 'vitest'
import { batchLookups } from '../../src/front-door/access/batch-lookups.ts'

function setUp(answer = async (keys: string[]) => new Map(keys.map((key) => [key, key.toUpperCase()]))) {
  const find = vi.fn<typeof answer>(answer)
  return { asked: () => find.mock.calls.map(([keys]) => keys), ask: batchLookups(find) }
}

it('asks once for all that callers of a moment wait for', async () => {
  const { asked, ask } = setUp()
  expect(await Promise.all([ask('a', false), ask('b', false), ask('a', false)])).toEqual(['A', 'B', 'A'])
  expect(asked()).toEqual([['a', 'b']])
  expect(await ask('a', false)).toBe('A')
  expect(asked()).toEqual([['a', 'b'], ['a']])
})

it('gathers keys that no caller waits for, and asks for them together with one that a caller waits for', async () => {
  const { asked, ask } = setUp()
  expect(await Promise.all([ask('a', true), ask('b', true)])).toEqual(['A', 'B'])
  expect(asked()).toEqual([['a', 'b']])
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const renewed = ask('c', true)
  expect(await ask('d', false)).toBe('D')
  expect(await renewed).toBe('C')
  vi.advanceTimersByTime(100)
  expect(asked().slice(1)).toEqual([['c', 'd']])
})

it('returns null for a key that is not found', async () => {
  const { ask } = setUp(async () => new Map([['a', 'A']]))
  expect(await Promise.all([ask('a', false), ask('b', false)])).toEqual(['A', null])
})

it('fails for those who asked together, and not for later callers', async () => {
  let isAway = true
  const { ask } = setUp(async (keys) => {
    if (isAway) throw new Error('away')
    return new Map(keys.map((key) => [key, key]))
  })
  const both = await Promise.allSettled([ask('a', false), ask('b', false)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isAway = false
  expect(await ask('a', false)).toBe('a')
})

it('asks for a thousand at a time', async () => {
  const { asked, ask } = setUp()
  await Promise.all(Array.from({ length: 1001 }, (_, n) => ask(String(n), false)))
  expect(asked().map(({ length }) => length)).toEqual([1000, 1])
})
