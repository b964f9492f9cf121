import { expect, it, vi } from 'vitest'
import { RequestError } from '../../src/errors.ts'
import { createCachedLookup } from '../../src/front-door/access/cached-lookup.ts'

const HERE = () => '203.0.113.7'

function setUp(answer: (key: string, isRenewal: boolean) => Promise<string | null>) {
  const clock = { ms: 0 }
  const find = vi.fn<typeof answer>(answer)
  // A real clock is never at 0.
  return { clock, find, lookUp: createCachedLookup(find, () => 1 + clock.ms) }
}

it('asks once for callers at the same time', async () => {
  const { find, lookUp } = setUp(async (key) => key.toUpperCase())
  expect(await Promise.all([lookUp('a', HERE), lookUp('a', HERE), lookUp('a', HERE)])).toEqual(['A', 'A', 'A'])
  expect(find).toHaveBeenCalledTimes(1)
})

it('trusts what it found for less than a second', async () => {
  const { clock, find, lookUp } = setUp(async (key) => key)
  await lookUp('a', HERE)
  clock.ms = 399
  await lookUp('a', HERE)
  expect(find).toHaveBeenCalledTimes(1)
  clock.ms = 751
  await lookUp('a', HERE)
  expect(find).toHaveBeenCalledTimes(2)
})

it('asks again in the background while it still trusts, and learns of a removal', async () => {
  let answer: () => void = () => undefined
  const { clock, find, lookUp } = setUp((key) =>
    clock.ms === 0 ? Promise.resolve(key) : new Promise((resolve) => (answer = () => resolve(null))),
  )
  await lookUp('a', HERE)
  clock.ms = 400
  expect(await lookUp('a', HERE)).toBe('a')
  clock.ms = 750
  expect(await lookUp('a', HERE)).toBe('a')
  expect(find.mock.calls).toEqual([
    ['a', false],
    ['a', true],
  ])
  answer()
  await new Promise((resolve) => setImmediate(resolve))
  expect(await lookUp('a', HERE)).toBe(null)
})

it('ignores a background query that failed, until its trust has ended', async () => {
  const { clock, lookUp } = setUp((key) => (clock.ms === 0 ? Promise.resolve(key) : Promise.reject(new Error('away'))))
  await lookUp('a', HERE)
  clock.ms = 400
  expect(await lookUp('a', HERE)).toBe('a')
  clock.ms = 751
  await expect(lookUp('a', HERE)).rejects.toMatchObject({ code: 'unavailable' })
})

it('counts its trust from the question, not from the answer', async () => {
  const { clock, find, lookUp } = setUp(async (key) => {
    clock.ms += 700
    return key
  })
  await lookUp('a', HERE)
  clock.ms = 760
  await lookUp('a', HERE)
  expect(find).toHaveBeenCalledTimes(2)
})

it('remembers for five seconds that there is no such thing', async () => {
  const { clock, find, lookUp } = setUp(async () => null)
  await lookUp('a', HERE)
  clock.ms = 5000
  expect(await lookUp('a', HERE)).toBe(null)
  expect(find).toHaveBeenCalledTimes(1)
  clock.ms = 5001
  await lookUp('a', HERE)
  expect(find).toHaveBeenCalledTimes(2)
})

it('lets an address guess sixty times a minute, and refuses no good key for it', async () => {
  const { clock, find, lookUp } = setUp(async (key) => (key === 'good' ? key : null))
  await lookUp('good', HERE)
  for (let guess = 0; guess < 60; guess += 1) await lookUp(`guess ${guess}`, HERE)
  await expect(lookUp('one more', HERE)).rejects.toMatchObject({
    code: 'rate_limited',
    headers: { 'Retry-After': '60' },
  })
  expect(find).toHaveBeenCalledTimes(61)
  clock.ms = 1000
  expect(await lookUp('good', HERE)).toBe('good')
  expect(await lookUp('guess 1', HERE)).toBe(null)
  expect(await lookUp('one more', () => 'elsewhere')).toBe(null)
  clock.ms = 60_001
  expect(await lookUp('two more', HERE)).toBe(null)
})

it('counts no key as a guess that was known before', async () => {
  const { clock, lookUp } = setUp(async (key) => (key === 'good' ? key : null))
  await lookUp('good', HERE)
  clock.ms = 751
  for (let guess = 0; guess < 60; guess += 1) await lookUp(`guess ${guess}`, HERE)
  expect(await lookUp('good', HERE)).toBe('good')
})

it('reports a fault of Postgres as unavailable, and asks again at once', async () => {
  const { find, lookUp } = setUp(async () => {
    throw new Error('connection refused')
  })
  await expect(lookUp('a', HERE)).rejects.toBeInstanceOf(RequestError)
  await expect(lookUp('a', HERE)).rejects.toMatchObject({ code: 'unavailable', status: 503 })
  expect(find).toHaveBeenCalledTimes(2)
})
