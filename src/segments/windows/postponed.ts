import { backoffMs } from '../../async/backoff.ts'

const RETRY = { firstMs: 500, maxMs: 30_000 }

/** Businesses whose windows could not be read: each is tried again after a while. */
export interface Postponed {
  /** Those whose time has not come. */
  businesses(): string[]
  failed(businessId: string): void
  succeeded(businessId: string): void
}

export function createPostponed(now: () => number = () => performance.now()): Postponed {
  const failures = new Map<string, { count: number; until: number }>()
  return {
    businesses: () => [...failures].flatMap(([id, { until }]) => (until > now() ? [id] : [])),
    failed(businessId) {
      const count = (failures.get(businessId)?.count ?? 0) + 1
      failures.set(businessId, { count, until: now() + backoffMs(count, RETRY) })
    },
    succeeded: (businessId) => void failures.delete(businessId),
  }
}
