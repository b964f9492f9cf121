/**
 * Limits requests per minute, counted in Redis. A window opens with its first request and lasts 60 s. When Redis does
 * not answer in time (RATE_LIMIT_TIMEOUT_MS), `take` soon returns null. Sign-ins are then refused, all else is let through.
 *
 * One Redis command per request would cost more than the rest of the request. So each bucket has at most one Redis
 * request in flight, and callers that arrive in the meantime share the next one. All buckets of one event-loop tick
 * share a command.
 */
import { setImmediate } from 'node:timers'
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { Redis } from '../../stores/redis.ts'
import { type TokenReply, openTokenStore } from './take-tokens.ts'

export const WINDOW_SECONDS = 60
const WARN_EVERY_MS = 10_000
/** Buckets per command: while a command runs, Redis serves no other client. */
const MAX_BUCKETS_PER_COMMAND = 100

export interface TokenGrant {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number
  /** Identifies the window, so that a refund never goes to a later one. */
  window: string
}

export interface RateLimiter {
  /** Takes one unit if there is one; resolves with null when Redis cannot be reached. */
  take(bucket: string, limit: number): Promise<TokenGrant | null>
  /** Returns a unit to the window that it was taken from, if that window is still open. */
  refund(bucket: string, window: string): Promise<void>
}

interface LimiterDeps {
  redis: Redis
  metrics: Metrics
  log: Logger
}

/** A bucket with callers, or with a request in flight. */
interface Bucket {
  name: string
  key: string
  limit: number
  /** Waiting callers. Each gets one unit of the next request to Redis. */
  callers: ((grant: TokenGrant | null) => void)[]
}

export function createRateLimiter(deps: LimiterDeps, { timeoutMs }: { timeoutMs: number }): RateLimiter {
  const store = openTokenStore(deps.redis, { windowMs: WINDOW_SECONDS * 1000, timeoutMs })
  const reportFailure = createFailureReport(deps)
  const buckets = new Map<string, Bucket>()
  /** Buckets with callers and no request in flight. */
  let due: Bucket[] = []

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
      const replies = await store.take(
        requests.map(({ bucket: { key, limit }, callers }) => ({ key, limit, units: callers.length })),
      )
      for (const [place, { bucket, callers }] of requests.entries()) {
        const reply = replies[place]
        if (reply === undefined) throw new Error(`Redis answered ${replies.length} of ${requests.length} requests`)
        for (const [turn, resolve] of callers.entries()) resolve(readGrant(reply, bucket.limit, turn))
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
      else buckets.delete(bucket.name)
    }
  }

  return {
    take(bucketName, limit) {
      // The name contains the limit, since the limit of a business may change.
      const name = `${limit} ${bucketName}`
      const known = buckets.get(name)
      const bucket = known ?? { name, key: keyOf(bucketName), limit, callers: [] }
      if (known === undefined) {
        buckets.set(name, bucket)
        schedule(bucket)
      }
      return new Promise((resolve) => bucket.callers.push(resolve))
    },
    async refund(bucket, window) {
      try {
        await store.refund(keyOf(bucket), window)
      } catch (error) {
        reportFailure(error)
      }
    },
  }
}

/** Returns the grant of one caller. Units are granted to the callers in order; `turn` counts from 0. */
function readGrant([granted, used, leftMs, window]: TokenReply, limit: number, turn: number): TokenGrant {
  const remaining = Math.max(0, limit - used - Math.min(turn + 1, granted))
  return { allowed: turn < granted, remaining, resetSeconds: Math.max(1, Math.ceil(leftMs / 1000)), window }
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
    deps.log.warn({ err: error }, 'the rate limiter cannot reach Redis; only sign-ins are refused')
  }
}
