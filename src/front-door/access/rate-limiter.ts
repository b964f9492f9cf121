/**
 * Limits requests per minute, counted in Redis. A window opens with its first request and lasts 60 s. When Redis does
 * not answer in time (RATE_LIMIT_TIMEOUT_MS), all requests are let through: the limiter fails open, and fast.
 *
 * One Redis command per request would cost more than the rest of the request. So each bucket has at most one Redis
 * request in flight, and callers that arrive in the meantime share the next one. All buckets of one event-loop tick
 * share a command. While enough units are left, a request also prefetches units for the next moment. Unused ones are
 * refunded, so that all front doors together grant exactly the limit.
 */
import { setImmediate } from 'node:timers'
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Redis } from '../../stores/redis.ts'
import { createSharedTimeouts } from '../../async/shared-timeouts.ts'
import { type Bucket, type TokenGrant, beginRequest, applyReply, createBucket, takePrefetched } from './rate-bucket.ts'
import { openTokenStore } from './take-tokens.ts'

export const WINDOW_SECONDS = 60
const WARN_EVERY_MS = 10_000
/** Prefetched units are refunded after this time without a request. */
const IDLE_MS = 100
/** Buckets per command: while a command runs, Redis serves no other client. */
const MAX_BUCKETS_PER_COMMAND = 100

export interface RateLimiter {
  /** Takes one unit if there is one; returns null when Redis cannot be reached. */
  take(bucket: string, limit: number): TokenGrant | Promise<TokenGrant | null>
  /** Returns a unit to the window that it was taken from, if that window is still open. */
  refund(bucket: string, window: string): Promise<void>
  /** Refunds all prefetched units. */
  close(): Promise<void>
}

interface LimiterDeps {
  redis: Redis
  metrics: Metrics
  log: Logger
}

export function createRateLimiter(deps: LimiterDeps, { timeoutMs }: { timeoutMs: number }): RateLimiter {
  const store = openTokenStore(deps.redis, { windowMs: WINDOW_SECONDS * 1000, timeoutMs })
  const reportFailure = createFailureReport(deps)
  const buckets = new Map<string, Bucket>()
  /** Buckets with callers and no request in flight. */
  let due: Bucket[] = []
  const expiry = createSharedTimeouts(IDLE_MS)

  async function refund(key: string, window: string, units: number): Promise<void> {
    try {
      await store.refund(key, window, units)
    } catch (error) {
      reportFailure(error)
    }
  }
  async function expire({ name, key, prefetched }: Bucket): Promise<void> {
    buckets.delete(name)
    if (prefetched !== undefined && prefetched.units > 0) await refund(key, prefetched.window, prefetched.units)
  }
  function schedule(bucket: Bucket): void {
    if (due.length === 0) setImmediate(requestDue)
    due.push(bucket)
  }
  function requestDue(): void {
    const all = due
    due = []
    for (let at = 0; at < all.length; at += MAX_BUCKETS_PER_COMMAND)
      void request(all.slice(at, at + MAX_BUCKETS_PER_COMMAND))
  }
  async function request(batch: Bucket[]): Promise<void> {
    const requests = batch.map((bucket) => ({ bucket, callers: bucket.callers.splice(0) }))
    try {
      const replies = await store.take(requests.map(({ bucket, callers }) => beginRequest(bucket, callers.length)))
      for (const [place, { bucket, callers }] of requests.entries()) {
        const reply = replies[place]
        if (reply === undefined) throw new Error(`Redis answered ${replies.length} of ${requests.length} requests`)
        applyReply(bucket, callers, reply)
      }
    } catch (error) {
      for (const { bucket, callers } of requests)
        // Callers that arrived in the meantime have waited too, and are let through with the others.
        for (const resolve of [...callers, ...bucket.callers.splice(0)]) {
          reportFailure(error)
          resolve(null)
        }
    }
    for (const bucket of batch) {
      if (bucket.callers.length > 0) schedule(bucket)
      else markIdle(bucket)
    }
  }
  function markIdle(bucket: Bucket): void {
    bucket.isRequesting = false
    bucket.expiry = expiry.begin(() => void expire(bucket))
  }

  return {
    take(bucketName, limit) {
      // The name contains the limit, since the limit of a business may change.
      const name = `${limit} ${bucketName}`
      const bucket = buckets.get(name) ?? createBucket(name, keyOf(bucketName), limit)
      buckets.set(name, bucket)
      bucket.calls += 1
      const grant = takePrefetched(bucket)
      if (grant) return grant
      if (!bucket.isRequesting) {
        bucket.isRequesting = true
        if (bucket.expiry) expiry.end(bucket.expiry)
        schedule(bucket)
      }
      return new Promise((resolve) => bucket.callers.push(resolve))
    },
    refund: (bucket, window) => refund(keyOf(bucket), window, 1),
    async close() {
      expiry.close()
      await Promise.all([...buckets.values()].map(expire))
    },
  }
}

const keyOf = (bucket: string): string => `sluice:limit:${bucket}`

/** Counts every failure, and logs at most one every 10 s, so that an outage does not flood the log. */
function createFailureReport(deps: { metrics: Metrics; log: Logger }): (error: unknown) => void {
  let reportedAt = -Infinity
  return (error) => {
    deps.metrics.rateLimiterErrors.inc()
    const now = performance.now()
    if (now - reportedAt < WARN_EVERY_MS) return
    reportedAt = now
    deps.log.warn({ err: error }, 'the rate limiter cannot reach Redis; requests are not limited')
  }
}
