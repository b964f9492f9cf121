/** Lets so much work run at a time. The rest waits, in its order. */
export interface Turns {
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export function createTurns(most: number): Turns {
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
