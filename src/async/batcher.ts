import { startSleep } from './sleep.ts'

/** Collects single requests and processes them in batches. */
export interface Batcher<Key, Result> {
  run(key: Key): Promise<Result>
}

interface Waiting<Key, Result> {
  key: Key
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface BatcherOptions {
  /** Maximum number of requests in a batch. */
  most: number
  /** A batch of fewer than `enough` requests waits `ms` milliseconds for more. */
  gather?: { enough: number; ms: number }
}

/**
 * Runs one batch at a time. Requests that arrive during a batch form the next one, so the load determines the size of
 * batches. When a batch fails, each of its keys is tried separately, so that only the failing ones are rejected.
 *
 * @param work returns a result for each key, in the order of the keys
 */
export function createBatcher<Key, Result>(
  work: (keys: Key[]) => Promise<Result[]>,
  { most, gather }: BatcherOptions,
): Batcher<Key, Result> {
  const waiting: Waiting<Key, Result>[] = []
  let isRunning = false
  let gathering: ReturnType<typeof startSleep> | undefined

  const isFew = () => gather !== undefined && waiting.length < gather.enough
  const gatherMore = async (): Promise<void> => {
    gathering = startSleep(gather?.ms ?? 0)
    await gathering.slept
    gathering = undefined
  }
  const runAll = async (): Promise<void> => {
    isRunning = true
    // Requests of the same turn of the event loop form one batch.
    await Promise.resolve()
    while (waiting.length > 0) {
      if (isFew()) await gatherMore()
      await runBatch(work, waiting.splice(0, most))
    }
    isRunning = false
  }
  return {
    run: (key) =>
      new Promise((resolve, reject) => {
        waiting.push({ key, resolve, reject })
        if (!isRunning) void runAll()
        else if (gathering && !isFew()) gathering.end()
      }),
  }
}

/** Never rejects. */
async function runBatch<Key, Result>(
  work: (keys: Key[]) => Promise<Result[]>,
  requests: readonly Waiting<Key, Result>[],
): Promise<void> {
  try {
    const results = await work(requests.map(({ key }) => key))
    if (results.length !== requests.length) throw new Error(`${results.length} results for ${requests.length} keys`)
    for (const [index, { resolve }] of requests.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (requests.length === 1) requests[0]?.reject(error)
    else for (const one of requests) await runBatch(work, [one])
  }
}
