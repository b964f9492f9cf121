/**
 * Requests a minute, counted in Redis. A window opens with its first request and lasts 60 s. When Redis cannot be asked
 * in time (RATE_LIMIT_TIMEOUT_MS), every request is let through: the limiter fails open, fast.
 *
 * A question for each request would cost more than the rest of the road. One of a bucket is under way at a time, and
 * whoever comes meanwhile asks together in the next; all buckets of one tick are asked about in one command. And where many
 * units are left, a question takes those of the next moment too. What is not used by then is given back, so that all front
 * doors together grant what the limit says.
 */
import { setImmediate } from 'node:timers'
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Redis } from '../../stores/redis.ts'
import { createSharedTimeouts } from '../../async/shared-timeouts.ts'
import { type Bucket, type TokenGrant, beginRequest, settleBucket, openBucket, takePrefetched } from './rate-bucket.ts'
import { openTokenStore } from './take-tokens.ts'

export const WINDOW_SECONDS = 60
const WARN_EVERY_MS = 10_000
/** What was taken ahead is given back after so long without a question. */
const KEEP_MS = 100
/** Buckets of one command: nobody else is served by Redis meanwhile. */
const MOST_AT_ONCE = 100

export interface RateLimiter {
  /** Takes one unit when there is one; null when the limiter cannot be reached. */
  take(bucket: string, limit: number): TokenGrant | Promise<TokenGrant | null>
  /** Gives a unit back to the window that it was taken from, if that is still open. */
  refund(bucket: string, window: string): Promise<void>
  /** Gives back all that was taken ahead. */
  close(): Promise<void>
}

interface LimiterDeps {
  redis: Redis
  metrics: Metrics
  log: Logger
}

export function createRateLimiter(deps: LimiterDeps, { timeoutMs }: { timeoutMs: number }): RateLimiter {
  const units = openTokenStore(deps.redis, { windowMs: WINDOW_SECONDS * 1000, timeoutMs })
  const failed = createFailureReport(deps)
  const buckets = new Map<string, Bucket>()
  /** Those with waiters and no question under way. */
  let due: Bucket[] = []
  const forgetting = createSharedTimeouts(KEEP_MS)

  async function refund(key: string, window: string, unused: number): Promise<void> {
    try {
      await units.refund(key, window, unused)
    } catch (error) {
      failed(error)
    }
  }
  async function forget({ name, key, ahead }: Bucket): Promise<void> {
    buckets.delete(name)
    if (ahead !== undefined && ahead.units > 0) await refund(key, ahead.window, ahead.units)
  }
  function askSoon(bucket: Bucket): void {
    if (due.length === 0) setImmediate(askAll)
    due.push(bucket)
  }
  function askAll(): void {
    const all = due
    due = []
    for (let at = 0; at < all.length; at += MOST_AT_ONCE) void ask(all.slice(at, at + MOST_AT_ONCE))
  }
  /** Of each bucket for as long as somebody waits. */
  async function ask(some: Bucket[]): Promise<void> {
    for (let waited = some; waited.length > 0; waited = waited.filter(({ waiters }) => waiters.length > 0)) {
      await askOnce(waited)
      for (const bucket of waited) if (bucket.waiters.length === 0) rest(bucket)
    }
  }
  async function askOnce(some: Bucket[]): Promise<void> {
    const asking = some.map((bucket) => ({ bucket, waiters: bucket.waiters.splice(0) }))
    try {
      const answers = await units.take(asking.map(({ bucket, waiters }) => beginRequest(bucket, waiters.length)))
      for (const [place, { bucket, waiters }] of asking.entries()) {
        const answer = answers[place]
        if (answer === undefined) throw new Error(`Redis answered ${answers.length} of ${asking.length} questions.`)
        settleBucket(bucket, waiters, answer)
      }
    } catch (error) {
      for (const { bucket, waiters } of asking)
        // Who came meanwhile has waited too: the time-out is everybody's.
        for (const resolve of [...waiters, ...bucket.waiters.splice(0)]) {
          failed(error)
          resolve(null)
        }
    }
  }
  function rest(bucket: Bucket): void {
    bucket.isAsking = false
    bucket.forgetting = forgetting.begin(() => void forget(bucket))
  }

  return {
    take(of, limit) {
      // The limit of a business may change in between.
      const name = `${limit} ${of}`
      const bucket = buckets.get(name) ?? openBucket(name, keyOf(of), limit)
      buckets.set(name, bucket)
      bucket.wanted += 1
      const taken = takePrefetched(bucket)
      if (taken) return taken
      if (!bucket.isAsking) {
        bucket.isAsking = true
        if (bucket.forgetting) forgetting.end(bucket.forgetting)
        askSoon(bucket)
      }
      return new Promise((resolve) => bucket.waiters.push(resolve))
    },
    refund: (bucket, window) => refund(keyOf(bucket), window, 1),
    async close() {
      forgetting.close()
      await Promise.all([...buckets.values()].map(forget))
    },
  }
}

const keyOf = (bucket: string): string => `sluice:limit:${bucket}`

/** Counts every failure, and tells of them once in a while: an outage must not flood the log. */
function createFailureReport(deps: { metrics: Metrics; log: Logger }): (error: unknown) => void {
  let reportedAt = -Infinity
  return (error) => {
    deps.metrics.rateLimiterErrors.inc()
    const now = performance.now()
    if (now - reportedAt < WARN_EVERY_MS) return
    reportedAt = now
    deps.log.warn({ err: error }, 'the rate limiter cannot be reached; requests are let through')
  }
}
