import { backoffMs } from '../../async/backoff.ts'

const RETRY = { firstMs: 500, maxMs: 30_000 }

/** Keys of what could not be read, such as the windows of a business. Each is tried again after a while. */
export interface Postponed {
  /** Keys whose time has not come. */
  keys(): string[]
  /** Number of failures in a row. */
  failures(key: string): number
  failed(key: string): void
  succeeded(key: string): void
}

export function createPostponed(now: () => number = () => performance.now()): Postponed {
  const failures = new Map<string, { count: number; until: number }>()
  return {
    keys: () => [...failures].flatMap(([key, { until }]) => (until > now() ? [key] : [])),
    failures: (key) => failures.get(key)?.count ?? 0,
    failed(key) {
      const count = (failures.get(key)?.count ?? 0) + 1
      failures.set(key, { count, until: now() + backoffMs(count, RETRY) })
    },
    succeeded: (key) => void failures.delete(key),
  }
}
