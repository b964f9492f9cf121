/**
 * Remembers for each pool of connections of this thread since when Postgres has not answered it. A thread that cannot
 * connect would otherwise only be seen in its log.
 */

interface Pool {
  failingSince: number
  lastFailedAt: number
}

const failing = new Map<string, Pool>()

/** A pool that is no longer used does not count. */
const RECENT_MS = 30_000

/** Errors of the driver's sockets and connections, and of a Postgres that rejects them. */
const IS_OF_CONNECTION = /^(?:CONNECT|ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EHOST|ENET|08|28|3D|53|57P)/

export function noteAnswer(pool: string): void {
  failing.delete(pool)
}

export function noteFailure(pool: string, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!IS_OF_CONNECTION.test(code)) return noteAnswer(pool)
  const now = performance.now()
  failing.set(pool, { failingSince: failing.get(pool)?.failingSince ?? now, lastFailedAt: now })
}

/** Lists the pools that Postgres has not answered for this long, by name. */
export function failingPools(forMs: number): string[] {
  const now = performance.now()
  const found = [...failing].filter(
    ([, { failingSince, lastFailedAt }]) => now - failingSince >= forMs && now - lastFailedAt < RECENT_MS,
  )
  return found.map(([name]) => name).toSorted()
}
