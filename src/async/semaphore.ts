/** Limits the number of tasks that run at the same time. The others wait, first come, first served. */
export interface Semaphore {
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export function createSemaphore(most: number): Semaphore {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    async run(work) {
      if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
      else running += 1
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) running -= 1
        else next()
      }
    },
  }
}
