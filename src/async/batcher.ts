/** Collects what is asked for singly, and does it in batches. */
export interface Batcher<Key, Result> {
  run(key: Key): Promise<Result>
}

interface Asked<Key, Result> {
  key: Key
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * One batch runs at a time; what is asked for meanwhile is the next one, so that batches are as large as the load makes them. When a
 * batch fails, each of its keys is tried alone: one that cannot be done fails for itself.
 * @param work returns a result for each key, in their order
 */
export function createBatcher<Key, Result>(
  work: (keys: Key[]) => Promise<Result[]>,
  { most }: { most: number },
): Batcher<Key, Result> {
  const waiting: Asked<Key, Result>[] = []
  let isRunning = false

  const runAll = async (): Promise<void> => {
    isRunning = true
    // What is asked for in the same turn of the event loop is one batch.
    await Promise.resolve()
    for (let asked = waiting.splice(0, most); asked.length > 0; asked = waiting.splice(0, most))
      await runBatch(work, asked)
    isRunning = false
  }
  return {
    run: (key) =>
      new Promise((resolve, reject) => {
        waiting.push({ key, resolve, reject })
        if (!isRunning) void runAll()
      }),
  }
}

/** Never rejects. */
async function runBatch<Key, Result>(
  work: (keys: Key[]) => Promise<Result[]>,
  asked: readonly Asked<Key, Result>[],
): Promise<void> {
  try {
    const results = await work(asked.map(({ key }) => key))
    if (results.length !== asked.length) throw new Error(`${results.length} results for ${asked.length} keys`)
    for (const [index, { resolve }] of asked.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (asked.length === 1) asked[0]?.reject(error)
    else for (const one of asked) await runBatch(work, [one])
  }
}
