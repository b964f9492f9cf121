/** One bucket of the rate limiter in this front door: its waiting requests and its prefetched units. No I/O. */
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

/** One bucket: what is requested of it, and what was prefetched. */
export interface Bucket {
  name: string
  key: string
  limit: number
  /** Each waits for one unit of the next request to Redis. */
  waiters: Waiter[]
  isRequesting: boolean
  /** By `performance.now()`. */
  requestedAt: number
  /** Units that were requested since then. */
  wanted: number
  ahead: Prefetched | undefined
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

type Waiter = (taken: TokenGrant | null) => void

export function createBucket(name: string, key: string, limit: number): Bucket {
  const nothing = {
    waiters: [],
    isRequesting: false,
    requestedAt: -Infinity,
    wanted: 0,
    ahead: undefined,
    expiry: undefined,
  }
  return { name, key, limit, ...nothing }
}

/** Starts a request for `units` units, and restarts the count of wanted units. */
export function beginRequest(bucket: Bucket, units: number): TokenRequest {
  const ahead = prefetchSize(bucket)
  bucket.requestedAt = performance.now()
  const { key, limit } = bucket
  return { key, limit, units, ahead, reserve: limit * RESERVE }
}

/** How many units to prefetch, by how many were wanted since the last request. Resets that count. */
function prefetchSize(bucket: Bucket): number {
  const { wanted, requestedAt, limit } = bucket
  const perMs = wanted / Math.max(PREFETCH_MS, performance.now() - requestedAt)
  bucket.wanted = 0
  return Math.floor(Math.min(perMs * PREFETCH_MS, limit * MAX_PREFETCH))
}

/** `requestedAt`: when the request was sent; the time left in the reply counts from there at the earliest. */
function readPrefetched([granted, used, leftMs, window, units]: TokenReply, requestedAt: number): Prefetched {
  return { units, used: used + granted, window, endsAt: requestedAt + leftMs }
}

export function takePrefetched({ ahead, limit }: Bucket): TokenGrant | undefined {
  if (ahead === undefined || ahead.units === 0) return undefined
  const leftMs = ahead.endsAt - performance.now()
  if (leftMs <= 0) return undefined
  ahead.units -= 1
  ahead.used += 1
  return { allowed: true, remaining: limit - ahead.used, resetSeconds: secondsOf(leftMs), window: ahead.window }
}

/** Serves callers that arrived during the request from the prefetched units. */
function serveFromPrefetched(bucket: Bucket): void {
  while (bucket.waiters.length > 0) {
    const taken = takePrefetched(bucket)
    if (!taken) return
    bucket.waiters.shift()?.(taken)
  }
}

/** The granted units go to the waiters in order; `turn` counts from 0. */
function readGrant([granted, used, leftMs, window]: TokenReply, limit: number, turn: number): TokenGrant {
  const after = used + Math.min(turn + 1, granted)
  const remaining = Math.max(0, limit - after)
  return { allowed: turn < granted, remaining, resetSeconds: secondsOf(leftMs), window }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

/** Resolves the waiters of the request in order, then those that arrived meanwhile as far as the prefetched units last. */
export function applyReply(bucket: Bucket, requesters: Waiter[], answer: TokenReply): void {
  for (const [turn, resolve] of requesters.entries()) resolve(readGrant(answer, bucket.limit, turn))
  bucket.ahead = readPrefetched(answer, bucket.requestedAt)
  serveFromPrefetched(bucket)
}
