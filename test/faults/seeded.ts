/** Reproducible random choices: the same seed gives the same choices (the timing depends on the machine). */
export interface Chance {
  /** A whole number from 0 to `n` - 1. */
  below(n: number): number
  /** A whole number from `from` to `to`, inclusive. */
  between(from: number, to: number): number
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T
  /** True with this probability. */
  is(probability: number): boolean
  /** Returns all items in random order. */
  shuffle<T>(items: readonly T[]): T[]
  /** Returns an independent sequence of choices, so that parallel users do not affect each other. */
  fork(): Chance
}

/** Mulberry32. */
export function seeded(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    between: (from, to) => from + below(to - from + 1),
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('There is nothing to pick from')
      return items[below(items.length)] as T
    },
    shuffle<T>(items: readonly T[]): T[] {
      const left = [...items]
      return items.flatMap(() => left.splice(below(left.length), 1))
    },
    is: (probability) => next() < probability,
    fork: () => seeded(below(2 ** 32)),
  }
}
