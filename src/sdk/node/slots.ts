/** Limits the number of concurrent tasks. The others wait, first come, first served. */
export function createSlots(free: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let left = free
  return async (work) => {
    if (left >= 1) left--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else left++
    }
  }
}
