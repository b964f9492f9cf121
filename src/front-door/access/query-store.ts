const TIMEOUT_MS = 2_000

/**
 * Queries a store with a time limit. Rejects with the message `no answer` (time limit) or `not reachable` (any error).
 */
export async function queryStore<T>(query: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), TIMEOUT_MS)
  try {
    const answer = query().catch((cause: unknown) => {
      throw new Error('not reachable', { cause })
    })
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
