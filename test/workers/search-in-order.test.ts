/** Which items spoil a set, and how few attempts are needed to find them. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { searchInOrder } from '../../workers/search-in-order.ts'

interface Searched<Item> {
  poisoned: Item[]
  questions: number
}

/** Searches, and expects that no question is repeated. */
async function search<Item>(items: Item[], fails: (some: Item[]) => boolean): Promise<Searched<Item>> {
  const asked = new Set<string>()
  const faultOf = async (some: Item[]) => {
    const question = some.map((item) => items.indexOf(item)).join()
    expect(asked).not.toContain(question)
    asked.add(question)
    return Promise.resolve(fails(some) ? `fault of ${some.length}` : null)
  }
  const fault = await faultOf(items)
  const never = { faultOf, isLate: () => false }
  const found = fault === null ? new Map<Item, string>() : await searchInOrder(items, fault, never)
  return { poisoned: [...found.keys()], questions: asked.size }
}

/** The same result by trying each item separately. */
function oneByOne<Item>(items: Item[], fails: (some: Item[]) => boolean): Item[] {
  const passing: Item[] = []
  return items.filter((item) => {
    const isPoisoned = fails([...passing, item])
    if (!isPoisoned) passing.push(item)
    return isPoisoned
  })
}

interface Bad {
  bad: boolean
}
const anyBad = (some: Bad[]) => some.some(({ bad }) => bad)

/** Upper limit of questions after the second: a gallop over the good items before each bad one, and back. */
function mostQuestions(items: Bad[]): number {
  const good = items
    .map(({ bad }) => (bad ? 'x' : '.'))
    .join('')
    .split('x')
  const ways = good.map((run) => 1 + 2 * Math.ceil(Math.log2(run.length + 1)))
  return ways.reduce((sum, way) => sum + way, 0) + 2 * Math.ceil(Math.log2(items.length + 1)) + 1
}

describe('the items that are found', () => {
  it('are those that are bad by themselves', async () => {
    const items = fc.array(fc.record({ bad: fc.boolean() }), { maxLength: 200 })
    const fewOrNeighbours = fc
      .array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 60 })), { maxLength: 10 })
      .map((runs) => runs.flatMap(([bad, length]) => Array.from({ length }, () => ({ bad }))))
    await fc.assert(
      fc.asyncProperty(fc.oneof(items, fewOrNeighbours), async (items) => {
        const { poisoned, questions } = await search(items, anyBad)
        expect(poisoned).toEqual(items.filter(({ bad }) => bad))
        expect(questions).toBeLessThanOrEqual(mostQuestions(items))
      }),
    )
  })

  it('are those that take one group past its limit', async () => {
    const items = fc.array(fc.record({ of: fc.constantFrom('a', 'b'), weight: fc.nat(10) }), { maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(items, fc.nat(100), async (items, most) => {
        const totalOf = (some: typeof items, who: string) =>
          some.reduce((sum, { of, weight }) => (of === who ? sum + weight : sum), 0)
        const fails = (some: typeof items) => totalOf(some, 'a') > most || totalOf(some, 'b') > most
        const { poisoned } = await search(items, fails)
        expect(poisoned).toEqual(oneByOne(items, fails))
        expect(fails(items.filter((item) => !poisoned.includes(item)))).toBe(false)
      }),
    )
  })

  it('are the later ones of items that conflict with each other', async () => {
    const items = fc.array(fc.record({ key: fc.nat(50) }), { maxLength: 60 })
    const fails = (some: { key: number }[]) => new Set(some.map(({ key }) => key)).size < some.length
    await fc.assert(
      fc.asyncProperty(items, async (items) => {
        const { poisoned } = await search(items, fails)
        expect(poisoned).toEqual(items.filter(({ key }, at) => items.findIndex((item) => item.key === key) < at))
      }),
    )
  })

  it('are returned with the reason that each has together with those before it', async () => {
    const found = await searchInOrder(['a', 'b', 'c', 'd', 'e', 'f'], 'b', {
      faultOf: (some) => Promise.resolve(some.find((item) => 'bce'.includes(item)) ?? null),
      isLate: () => false,
    })
    expect([...found]).toEqual(['b', 'c', 'e'].map((item) => [item, item]))
  })
})

describe('the questions', () => {
  const thousand = (isBad: (at: number) => boolean) => Array.from({ length: 1000 }, (_, at) => ({ bad: isBad(at) }))

  it('are a dozen for one in a thousand, and one when there is none', async () => {
    expect(
      (
        await search(
          thousand((at) => at === 617),
          anyBad,
        )
      ).questions,
    ).toBeLessThanOrEqual(13)
    expect(
      (
        await search(
          thousand(() => false),
          anyBad,
        )
      ).questions,
    ).toBe(1)
  })

  it('are about one for each of many bad neighbours', async () => {
    const { poisoned, questions } = await search(
      thousand((at) => at >= 335 && at < 500),
      anyBad,
    )
    expect(poisoned).toHaveLength(165)
    expect(questions).toBeLessThan(165 + 35)
  })
})

describe('when it gets late', () => {
  it('no more is asked, nothing that has passed is set aside, and all from the first that has not', async () => {
    const bad = fc.array(fc.record({ bad: fc.boolean() }), { minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(bad, fc.nat(20), async (items, most) => {
        fc.pre(anyBad(items))
        const passed = new Set<Bad>()
        let asked = 0
        const found = await searchInOrder(items, 'known', {
          isLate: () => asked >= most,
          faultOf(some) {
            asked += 1
            if (anyBad(some)) return Promise.resolve('fault')
            for (const item of some) passed.add(item)
            return Promise.resolve(null)
          },
        })
        expect(asked).toBeLessThanOrEqual(most)
        expect(found.size).toBeGreaterThan(0)
        for (const item of found.keys()) expect(passed).not.toContain(item)
        // Either the remaining items pass, or the search reached its limit.
        if (asked < most) expect([...found.keys()]).toEqual(items.filter((item) => item.bad))
      }),
    )
  })
})
