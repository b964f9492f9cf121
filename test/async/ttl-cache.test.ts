import { expect, it } from 'vitest'
import { createTtlCache } from '../../src/async/ttl-cache.ts'

function openCache() {
  let clock = 0
  let reads = 0
  const cache = createTtlCache<number | null>({ ms: 10, max: 2 }, () => clock)
  return {
    pass: (ms: number) => void (clock += ms),
    read: (key: string, answer: () => Promise<number | null> = async () => (reads += 1)) => cache(key, answer),
  }
}

it('reads once for concurrent and later readers, until the time is over', async () => {
  const { read, pass } = openCache()
  expect(await Promise.all([read('a'), read('a')])).toEqual([1, 1])
  pass(9)
  expect(await read('a')).toBe(1)
  pass(1)
  expect(await read('a')).toBe(2)
})

it('remembers neither null nor an error', async () => {
  const { read } = openCache()
  expect(await read('a', async () => null)).toBeNull()
  await expect(read('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await read('a')).toBe(1)
})

it('keeps at most its number of keys', async () => {
  const { read } = openCache()
  await read('a')
  await read('b')
  await read('c')
  expect([await read('c'), await read('b'), await read('a')]).toEqual([3, 2, 4])
})
