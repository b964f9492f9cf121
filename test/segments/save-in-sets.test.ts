/** The sets in which contacts are saved, two at a time. */
import { expect, it } from 'vitest'
import { sleep } from '../../src/async/sleep.ts'
import { saveInShortSets } from '../../src/segments/save-in-sets.ts'

const contacts = Array.from({ length: 100 }, (_, n) => n)

it('short sets have each contact once, in order, and grow while they are fast', async () => {
  const sets: number[][] = []
  const done = await saveInShortSets(contacts, (set) => Promise.resolve(sets.push(set)), { first: 4, until: Infinity })
  expect(done).toBe(100)
  expect(sets.flat()).toEqual(contacts)
  expect(sets.slice(0, 2).map(({ length }) => length)).toEqual([4, 4])
  expect(Math.max(...sets.map(({ length }) => length))).toBeGreaterThan(8)
})

it('short sets become smaller when they take long', async () => {
  const sizes: number[] = []
  const save = async (set: number[]) => {
    sizes.push(set.length)
    await sleep(set.length * 10)
  }
  await saveInShortSets(contacts, save, { first: 20, until: Infinity })
  expect(sizes.slice(0, 2)).toEqual([20, 20])
  expect(Math.max(...sizes.slice(2))).toBeLessThanOrEqual(10)
})

it('short sets keep a quarter of their first size and ten contacts, however long they take', async () => {
  const sizes: number[] = []
  const save = async (set: number[]) => {
    sizes.push(set.length)
    await sleep(400)
  }
  await saveInShortSets(contacts.concat(contacts).slice(0, 125), save, { first: 48, until: Infinity })
  // The last one has what is left.
  expect(sizes).toEqual([48, 48, 12, 12, 5])
})

it('no short set begins after the end of the round, but one always does', async () => {
  const begun: number[] = []
  const save = (set: number[]) => Promise.resolve(begun.push(...set))
  expect(await saveInShortSets(contacts, save, { first: 10, until: performance.now() - 1 })).toBe(10)
  expect(begun).toEqual(contacts.slice(0, 10))
})

it('when a set fails, the other one under way is waited for, and no further one begins', async () => {
  let ended = false
  let begun = 0
  const save = async ([first]: number[]) => {
    begun += 1
    if (first === 0) throw new Error('no')
    await sleep(20)
    ended = true
  }
  await expect(saveInShortSets(contacts, save, { first: 25, until: Infinity })).rejects.toThrow('no')
  expect(ended).toBe(true)
  expect(begun).toBe(2)
})
