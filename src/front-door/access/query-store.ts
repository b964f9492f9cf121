const TIMEOUT_MS = 2_000

/**
 * Queries a store with a time limit. Rejects with the message `no answer` (time limit), `no free connection` (Postgres
 * answers, but accepts no more connections), or `not reachable` (any other error).
 */
export async function queryStore<T>(query: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), TIMEOUT_MS)
  try {
    const answer = query().catch((cause: unknown) => {
      throw new Error(isFull(cause) ? NO_CONNECTION : 'not reachable', { cause })
    })
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

export const NO_CONNECTION = 'no free connection'

/** `too_many_connections`, also for the limit of a role or a database. */
const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '53300'
