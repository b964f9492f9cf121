const PATIENCE_MS = 2_000

/** Asks a store, which can hang as well as fail. Rejects with `no answer` or `not reachable`, whatever it was. */
export async function queryStore<T>(ask: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), PATIENCE_MS)
  try {
    const answer = ask().catch((cause: unknown) => {
      throw new Error('not reachable', { cause })
    })
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
