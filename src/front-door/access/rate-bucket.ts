/** One bucket of the rate limiter in this front door: its callers and its prefetched units. It does no I/O. */
import type { SharedTimeout } from '../../async/shared-timeouts.ts'
import type { TokenReply, TokenRequest } from './take-tokens.ts'

/** Prefetches the units for this time at the recent rate, within the two limits below. */
const PREFETCH_MS = 25
/** Part of the limit that is prefetched at most: the units of a tenth of a second. */
const MAX_PREFETCH = 1 / 600
/** Part of the limit that must be left after a prefetch. */
const RESERVE = 1 / 10

export interface TokenGrant {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number
  /** Identifies the window, so that a refund never goes to a later one. */
  window: string
}

export interface Bucket {
  name: string
  key: string
  limit: number
  /** Waiting callers. Each gets one unit of the next request to Redis. */
  callers: Caller[]
  isRequesting: boolean
  /** Time of the last request, by `performance.now()`. */
  requestedAt: number
  /** Calls since the last request. */
  calls: number
  prefetched: Prefetched | undefined
  expiry: SharedTimeout | undefined
}

interface Prefetched {
  units: number
  /** Units of the window used before the next one. */
  used: number
  window: string
  /** End of the window by `performance.now()`; never later than the end in Redis. */
  endsAt: number
}

type Caller = (grant: TokenGrant | null) => void

export function createBucket(name: string, key: string, limit: number): Bucket {
  const nothing = {
    callers: [],
    isRequesting: false,
    requestedAt: -Infinity,
    calls: 0,
    prefetched: undefined,
    expiry: undefined,
  }
  return { name, key, limit, ...nothing }
}

/** Returns a request for `units` units, and restarts the count of calls. */
export function beginRequest(bucket: Bucket, units: number): TokenRequest {
  const { key, limit, calls, requestedAt } = bucket
  const now = performance.now()
  const perMs = calls / Math.max(PREFETCH_MS, now - requestedAt)
  bucket.calls = 0
  bucket.requestedAt = now
  const prefetch = Math.floor(Math.min(perMs * PREFETCH_MS, limit * MAX_PREFETCH))
  return { key, limit, units, prefetch, reserve: limit * RESERVE }
}

/**
 * Grants the units of a reply to the callers of its request, and prefetched units to callers that arrived in the
 * meantime.
 */
export function applyReply(bucket: Bucket, callers: Caller[], reply: TokenReply): void {
  const [granted, used, leftMs, window, units] = reply
  for (const [turn, resolve] of callers.entries()) resolve(readGrant(reply, bucket.limit, turn))
  // Counted from the time of the request, so that `endsAt` is never later than the end in Redis.
  bucket.prefetched = { units, used: used + granted, window, endsAt: bucket.requestedAt + leftMs }
  while (bucket.callers.length > 0) {
    const grant = takePrefetched(bucket)
    if (!grant) return
    bucket.callers.shift()?.(grant)
  }
}

export function takePrefetched({ prefetched, limit }: Bucket): TokenGrant | undefined {
  if (prefetched === undefined || prefetched.units === 0) return undefined
  const leftMs = prefetched.endsAt - performance.now()
  if (leftMs <= 0) return undefined
  prefetched.units -= 1
  prefetched.used += 1
  const { used, window } = prefetched
  return { allowed: true, remaining: limit - used, resetSeconds: secondsOf(leftMs), window }
}

/** Returns the grant of one caller. Units are granted to the callers in order; `turn` counts from 0. */
function readGrant([granted, used, leftMs, window]: TokenReply, limit: number, turn: number): TokenGrant {
  const remaining = Math.max(0, limit - used - Math.min(turn + 1, granted))
  return { allowed: turn < granted, remaining, resetSeconds: secondsOf(leftMs), window }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))
