/**
 * Requests a minute, counted in Redis. A window opens with its first request and lasts 60 s. When Redis cannot be asked
 * in time (RATE_LIMIT_TIMEOUT_MS, the connection's own limit), every request is let through: the limiter fails open, fast.
 *
 * A question for each request would cost more than the rest of the road. One of a bucket is under way at a time, and
 * whoever comes meanwhile asks together in the next. And where many units are left, a question takes those of the next
 * moment too. What is not used by then is given back, so that all front doors together grant what the limit says.
 */
import { setImmediate } from 'node:timers'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Redis } from '../stores/redis.ts'
import { type TimeOut, createTimeOuts } from '../time-outs.ts'
import { type Answer, openUnits } from './take-units.ts'

export const WINDOW_SECONDS = 60
const WARN_EVERY_MS = 10_000
/** Units are taken for so long ahead, by how many were asked for lately … */
const AHEAD_MS = 25
/** … but never more than the limit allows in a tenth of a second; only while a tenth of the limit is left besides … */
const MOST_AHEAD = 1 / 600
const LEFT_BESIDES = 1 / 10
/** … and given back after so long without a question. */
const KEEP_MS = 100

export interface Taken {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, 1 at least. */
  resetSeconds: number
  /** Names the window, so that a refund goes to no later one. */
  window: string
}

export interface Limiter {
  /** Takes one unit when there is one; null when the limiter cannot be reached. */
  take(bucket: string, limit: number): Taken | Promise<Taken | null>
  /** Gives a unit back to the window that it was taken from, if that is still open. */
  refund(bucket: string, window: string): Promise<void>
  /** Gives back all that was taken ahead. */
  close(): Promise<void>
}

/** What is asked of one bucket, and what was taken ahead of it. */
interface Bucket {
  key: string
  limit: number
  /** Each wants a unit of the next question. */
  waiters: ((taken: Taken | null) => void)[]
  isAsking: boolean
  askedAt: number
  /** Units that were wanted since. */
  wanted: number
  ahead: Ahead | undefined
  forgetting: TimeOut | undefined
}

interface Ahead {
  units: number
  /** Units used before the next. */
  used: number
  window: string
  /** Of the window, by the clock that only goes forward; not later than by that of Redis. */
  endsAt: number
}

export function createLimiter(deps: { redis: Redis; metrics: Metrics; log: Logger }): Limiter {
  const units = openUnits(deps.redis)
  const failed = createFailureReport(deps)
  const buckets = new Map<string, Bucket>()
  const forgetting = createTimeOuts(KEEP_MS)

  async function refund(key: string, window: string, unused: number): Promise<void> {
    try {
      await units.refundUnits(key, window, unused)
    } catch (error) {
      failed(error)
    }
  }
  async function forget(name: string, { key, ahead }: Bucket): Promise<void> {
    buckets.delete(name)
    if (ahead !== undefined && ahead.units > 0) await refund(key, ahead.window, ahead.units)
  }
  /** Asks for as long as somebody waits. */
  async function ask(name: string, bucket: Bucket): Promise<void> {
    const { limit, waiters } = bucket
    while (waiters.length > 0) {
      const asking = waiters.splice(0)
      const wish = wishAhead(bucket)
      bucket.askedAt = performance.now()
      try {
        const answer = await units.takeUnits(
          bucket.key,
          limit,
          WINDOW_SECONDS * 1000,
          asking.length,
          wish,
          limit * LEFT_BESIDES,
        )
        for (const [turn, tell] of asking.entries()) tell(readTaken(answer, limit, turn))
        bucket.ahead = readAhead(answer, bucket.askedAt)
        serveAhead(bucket)
      } catch (error) {
        // Who came meanwhile has waited too: the time-out is everybody's.
        for (const tell of [...asking, ...waiters.splice(0)]) {
          failed(error)
          tell(null)
        }
      }
    }
    bucket.isAsking = false
    bucket.forgetting = forgetting.begin(() => void forget(name, bucket))
  }

  return {
    take(of, limit) {
      // The limit of a business may change in between.
      const name = `${limit} ${of}`
      const bucket = buckets.get(name) ?? openBucket(of, limit)
      buckets.set(name, bucket)
      bucket.wanted += 1
      const taken = takeAhead(bucket)
      if (taken) return taken
      if (!bucket.isAsking) {
        bucket.isAsking = true
        if (bucket.forgetting) forgetting.end(bucket.forgetting)
        setImmediate(() => void ask(name, bucket))
      }
      return new Promise((tell) => bucket.waiters.push(tell))
    },
    refund: (bucket, window) => refund(keyOf(bucket), window, 1),
    async close() {
      forgetting.close()
      await Promise.all([...buckets].map(([name, bucket]) => forget(name, bucket)))
    },
  }
}

function openBucket(name: string, limit: number): Bucket {
  const nothing = {
    waiters: [],
    isAsking: false,
    askedAt: -Infinity,
    wanted: 0,
    ahead: undefined,
    forgetting: undefined,
  }
  return { key: keyOf(name), limit, ...nothing }
}

/** How many units to take ahead, by how many were wanted since the question before; it is forgotten with this one. */
function wishAhead(bucket: Bucket): number {
  const { wanted, askedAt, limit } = bucket
  const perMs = wanted / Math.max(AHEAD_MS, performance.now() - askedAt)
  bucket.wanted = 0
  return Math.floor(Math.min(perMs * AHEAD_MS, limit * MOST_AHEAD))
}

/** `askedAt`: the window has been open for longer than that. */
function readAhead([granted, used, leftMs, window, units]: Answer, askedAt: number): Ahead {
  return { units, used: used + granted, window, endsAt: askedAt + leftMs }
}

function takeAhead({ ahead, limit }: Bucket): Taken | undefined {
  if (ahead === undefined || ahead.units === 0) return undefined
  const leftMs = ahead.endsAt - performance.now()
  if (leftMs <= 0) return undefined
  ahead.units -= 1
  ahead.used += 1
  return { allowed: true, remaining: limit - ahead.used, resetSeconds: secondsOf(leftMs), window: ahead.window }
}

/** Who came during the question need not ask another. */
function serveAhead(bucket: Bucket): void {
  while (bucket.waiters.length > 0) {
    const taken = takeAhead(bucket)
    if (!taken) return
    bucket.waiters.shift()?.(taken)
  }
}

/** The units that were granted go to the first in turn. */
function readTaken([granted, used, leftMs, window]: Answer, limit: number, turn: number): Taken {
  const after = used + Math.min(turn + 1, granted)
  const remaining = Math.max(0, limit - after)
  return { allowed: turn < granted, remaining, resetSeconds: secondsOf(leftMs), window }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

const keyOf = (bucket: string): string => `sluice:limit:${bucket}`

/** Counts every failure, and tells of them once in a while: an outage must not flood the log. */
function createFailureReport(deps: { metrics: Metrics; log: Logger }): (error: unknown) => void {
  let toldAt = -Infinity
  return (error) => {
    deps.metrics.rateLimiterErrors.inc()
    const now = performance.now()
    if (now - toldAt < WARN_EVERY_MS) return
    toldAt = now
    deps.log.warn({ err: error }, 'the rate limiter cannot be reached; requests are let through')
  }
}
