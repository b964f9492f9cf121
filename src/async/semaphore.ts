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

/** Limits the tasks of each key by itself. */
export interface Semaphores {
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>
}

export function createSemaphores(most: number): Semaphores {
  const used = new Map<string, { semaphore: Semaphore; tasks: number }>()
  return {
    async run(key, work) {
      const one = used.get(key) ?? { semaphore: createSemaphore(most), tasks: 0 }
      used.set(key, one)
      one.tasks += 1
      try {
        return await one.semaphore.run(work)
      } finally {
        one.tasks -= 1
        if (one.tasks === 0) used.delete(key)
      }
    },
  }
}
