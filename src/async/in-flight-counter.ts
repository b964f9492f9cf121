/** Counts operations in flight. A counter costs less than a list of promises. */
export interface InFlightCounter {
  begin(): void
  end(): void
  count(): number
  /** Resolves when the count is 0. */
  whenIdle(): Promise<void>
}

export function createInFlightCounter(): InFlightCounter {
  let count = 0
  const waiting: (() => void)[] = []
  return {
    begin: () => void (count += 1),
    end() {
      count -= 1
      if (count === 0) for (const resolve of waiting.splice(0)) resolve()
    },
    count: () => count,
    whenIdle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
