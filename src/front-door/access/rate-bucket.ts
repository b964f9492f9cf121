/** One bucket of the rate limiter in this front door: its callers and its prefetched units. No I/O. */
import type { SharedTimeout } from '../../async/shared-timeouts.ts'
import type { TokenReply, TokenRequest } from './take-tokens.ts'

/** Prefetches the units of this much time, by the recent rate … */
const PREFETCH_MS = 25
/** … but at most what the limit allows in a tenth of a second, and only while a tenth of the limit is left after it. */
const MAX_PREFETCH = 1 / 600
const RESERVE = 1 / 10

export interface TokenGrant {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, 1 at least. */
  resetSeconds: number
  /** Identifies the window, so that a refund never goes to a later one. */
  window: string
}

export interface Bucket {
  name: string
  key: string
  limit: number
  /** Each gets one unit of the next request to Redis. */
  callers: Caller[]
  isRequesting: boolean
  /** When the last request was sent, by `performance.now()`. */
  requestedAt: number
  /** Calls since then. */
  calls: number
  prefetched: Prefetched | undefined
  expiry: SharedTimeout | undefined
}

interface Prefetched {
  units: number
  /** Units used before the next. */
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

/** A request for `units` units. Restarts the count of calls. */
export function beginRequest(bucket: Bucket, units: number): TokenRequest {
  const { key, limit, calls, requestedAt } = bucket
  const now = performance.now()
  const perMs = calls / Math.max(PREFETCH_MS, now - requestedAt)
  bucket.calls = 0
  bucket.requestedAt = now
  const prefetch = Math.floor(Math.min(perMs * PREFETCH_MS, limit * MAX_PREFETCH))
  return { key, limit, units, prefetch, reserve: limit * RESERVE }
}

/** Grants the units of a reply to the callers of its request, and prefetched units to callers that arrived meanwhile. */
export function applyReply(bucket: Bucket, callers: Caller[], reply: TokenReply): void {
  const [granted, used, leftMs, window, units] = reply
  for (const [turn, resolve] of callers.entries()) resolve(readGrant(reply, bucket.limit, turn))
  // The time left counts from when the request was sent, at the earliest.
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

/** The granted units go to the callers in order; `turn` counts from 0. */
function readGrant([granted, used, leftMs, window]: TokenReply, limit: number, turn: number): TokenGrant {
  const remaining = Math.max(0, limit - used - Math.min(turn + 1, granted))
  return { allowed: turn < granted, remaining, resetSeconds: secondsOf(leftMs), window }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))
