/** Whose items spoil a micro-batch: only theirs are set aside, within a time limit. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Poison, searchPoisoned } from '../../workers/search-poisoned.ts'

interface Item {
  business: string
  contact: string
  bad: boolean
}

/** Cost of a dry run of items that pass, and of one that fails, in ms. */
const COST_MS = { passes: 10, fails: 300 }

interface Searched {
  poisoned: Map<Item, Poison>
  /** Duration of the search, by a clock that advances with the questions. */
  ms: number
  questions: Item[][]
}

async function search(items: Item[], limitMs: number, suspects: string[] = []): Promise<Searched> {
  const questions: Item[][] = []
  let ms = 0
  const poisoned = await searchPoisoned(items, {
    businessOf: ({ business }) => business,
    contactOf: ({ business, contact }) => `${business} ${contact}`,
    isSuspect: (key) => suspects.includes(key),
    isLate: () => ms >= limitMs,
    faultOf(some) {
      expect(some).toEqual(items.filter((item) => some.includes(item)))
      questions.push(some)
      const fails = some.some(({ bad }) => bad)
      ms += fails ? COST_MS.fails : COST_MS.passes
      return Promise.resolve(fails ? 'fault' : null)
    },
  })
  return { poisoned, ms, questions }
}

const anyItems = fc.array(
  fc.record({
    business: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    contact: fc.constantFrom('1', '2', '3', '4'),
    bad: fc.boolean(),
  }),
  { minLength: 1, maxLength: 80 },
)
/** Bad items in a few businesses only. */
const fewBad = fc
  .tuple(anyItems, fc.subarray(['a', 'b', 'c', 'd', 'e'], { maxLength: 2 }))
  .map(([items, guilty]) => items.map((item) => ({ ...item, bad: item.bad && guilty.includes(item.business) })))

describe('poison', () => {
  it('is found item by item while there is time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyItems, fewBad), async (items) => {
        const { poisoned } = await search(items, Infinity)
        expect(new Set(poisoned.keys())).toEqual(new Set(items.filter(({ bad }) => bad)))
      }),
    )
  })

  it('costs no other business an item, however little time there is, and what is left passes', async () => {
    await fc.assert(
      fc.asyncProperty(fewBad, fc.nat(2000), async (items, limitMs) => {
        const { poisoned, ms, questions } = await search(items, limitMs)
        const guilty = new Set(items.filter(({ bad }) => bad).map(({ business }) => business))
        for (const item of poisoned.keys()) expect(guilty).toContain(item.business)
        for (const business of guilty) {
          expect([...poisoned.keys()].some((item) => item.business === business)).toBe(true)
        }
        // Finding the guilty businesses does not count towards the limit. After the limit, each of them is
        // tried at most one more time.
        const failed = questions.filter((some) => some.some(({ bad }) => bad)).length
        expect(failed).toBeLessThanOrEqual(Math.ceil(limitMs / COST_MS.fails) + guilty.size * 8 + 1)
        expect(ms).toBeLessThanOrEqual(limitMs + (guilty.size * 8 + 2) * (COST_MS.fails + 3 * COST_MS.passes))
      }),
    )
  })

  it('from the one business among many that sends the most is found by one question that passes', async () => {
    const polite = Array.from({ length: 60 }, (_, n) => ({ business: `p${n}`, contact: '1', bad: false }))
    const hostile = Array.from({ length: 400 }, (_, n) => ({ business: 'h', contact: `${n % 40}`, bad: n === 77 }))
    const { poisoned, questions } = await search([...polite, ...hostile], 0)
    expect(questions.map((some) => new Set(some.map(({ business }) => business)).size)).toEqual([61, 60, 1])
    // There is no time to search within the business.
    expect(new Set(poisoned.keys())).toEqual(new Set(hostile))
    expect([...poisoned.values()].every(({ scope }) => scope === 'business')).toBe(true)
  })

  it('from a suspect is found as quickly, however little the suspect sends', async () => {
    const polite = Array.from({ length: 60 }, (_, n) => ({ business: `p${n % 6}`, contact: '1', bad: false }))
    const hostile = { business: 'h', contact: '1', bad: true }
    const { poisoned, questions } = await search([hostile, ...polite], 0, ['h'])
    expect(questions).toHaveLength(3)
    expect([...poisoned]).toEqual([[hostile, { reason: 'fault', scope: 'item' }]])
  })

  it('from a hot contact costs its neighbours in the same business nothing', async () => {
    const others = Array.from({ length: 30 }, (_, n) => ({ business: 'h', contact: `c${n}`, bad: false }))
    const hot = Array.from({ length: 100 }, (_, n) => ({ business: 'h', contact: 'hot', bad: n > 50 }))
    // Enough time for the whole, and once for the contact.
    const { poisoned } = await search([...others, ...hot], 2 * COST_MS.fails)
    expect(new Set(poisoned.keys())).toEqual(new Set(hot))
    expect([...poisoned.values()].every(({ scope }) => scope === 'contact')).toBe(true)
  })

  it('that several contacts cause together is blamed on the last of them', async () => {
    const items = Array.from({ length: 12 }, (_, n) => ({ business: 'b', contact: `${n}`, bad: false }))
    const poisoned = await searchPoisoned(items, {
      businessOf: ({ business }) => business,
      contactOf: ({ contact }) => contact,
      isSuspect: () => false,
      isLate: () => false,
      faultOf: (some) => Promise.resolve(some.length > 10 ? 'too many' : null),
    })
    expect([...poisoned.keys()]).toEqual(items.slice(10))
  })

  it('is not found where there is none', async () => {
    expect((await search([], 0)).poisoned.size).toBe(0)
    expect((await search([{ business: 'b', contact: '1', bad: false }], 0)).poisoned.size).toBe(0)
  })
})
