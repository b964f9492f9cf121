/** How many of something are under way, and when none is any more: a count costs less than a list of them. */
export interface Running {
  begin(): void
  end(): void
  count(): number
  /** Resolves at once when none is. */
  untilNone(): Promise<void>
}

export function countRunning(): Running {
  let count = 0
  const waiting: (() => void)[] = []
  return {
    begin: () => void (count += 1),
    end() {
      count -= 1
      if (count === 0) for (const tell of waiting.splice(0)) tell()
    },
    count: () => count,
    untilNone: () => (count === 0 ? Promise.resolve() : new Promise((tell) => waiting.push(tell))),
  }
}
