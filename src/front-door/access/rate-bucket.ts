/** One bucket of the limiter in this front door: who waits for units of it, and those that were taken ahead. No I/O. */
import type { SharedTimeout } from '../../async/shared-timeouts.ts'
import type { TokenReply, TokenRequest } from './take-tokens.ts'

/** Units are taken for so long ahead, by how many were asked for lately … */
const PREFETCH_MS = 25
/** … but never more than the limit allows in a tenth of a second, and only while a tenth of the limit is left besides. */
const MAX_PREFETCH = 1 / 600
const RESERVE = 1 / 10

export interface TokenGrant {
  allowed: boolean
  remaining: number
  /** Whole seconds until the window ends, 1 at least. */
  resetSeconds: number
  /** Names the window, so that a refund goes to no later one. */
  window: string
}

/** What is asked of one bucket, and what was taken ahead of it. */
export interface Bucket {
  name: string
  key: string
  limit: number
  /** Each wants a unit of the next question. */
  waiters: Waiter[]
  isAsking: boolean
  /** By `performance.now()`. */
  askedAt: number
  /** Units that were wanted since. */
  wanted: number
  ahead: Prefetched | undefined
  forgetting: SharedTimeout | undefined
}

interface Prefetched {
  units: number
  /** Units used before the next. */
  used: number
  window: string
  /** Of the window, by the clock that only goes forward; not later than by that of Redis. */
  endsAt: number
}

type Waiter = (taken: TokenGrant | null) => void

export function openBucket(name: string, key: string, limit: number): Bucket {
  const nothing = {
    waiters: [],
    isAsking: false,
    askedAt: -Infinity,
    wanted: 0,
    ahead: undefined,
    forgetting: undefined,
  }
  return { name, key, limit, ...nothing }
}

/** From now on it counts what is wanted anew. */
export function beginRequest(bucket: Bucket, units: number): TokenRequest {
  const ahead = prefetchSize(bucket)
  bucket.askedAt = performance.now()
  const { key, limit } = bucket
  return { key, limit, units, ahead, reserve: limit * RESERVE }
}

/** How many units to take ahead, by how many were wanted since the question before; it is forgotten with this one. */
function prefetchSize(bucket: Bucket): number {
  const { wanted, askedAt, limit } = bucket
  const perMs = wanted / Math.max(PREFETCH_MS, performance.now() - askedAt)
  bucket.wanted = 0
  return Math.floor(Math.min(perMs * PREFETCH_MS, limit * MAX_PREFETCH))
}

/** `askedAt`: the window has been open for longer than that. */
function readPrefetched([granted, used, leftMs, window, units]: TokenReply, askedAt: number): Prefetched {
  return { units, used: used + granted, window, endsAt: askedAt + leftMs }
}

export function takePrefetched({ ahead, limit }: Bucket): TokenGrant | undefined {
  if (ahead === undefined || ahead.units === 0) return undefined
  const leftMs = ahead.endsAt - performance.now()
  if (leftMs <= 0) return undefined
  ahead.units -= 1
  ahead.used += 1
  return { allowed: true, remaining: limit - ahead.used, resetSeconds: secondsOf(leftMs), window: ahead.window }
}

/** Who came during the question need not ask another. */
function serveFromPrefetched(bucket: Bucket): void {
  while (bucket.waiters.length > 0) {
    const taken = takePrefetched(bucket)
    if (!taken) return
    bucket.waiters.shift()?.(taken)
  }
}

/** The units that were granted go to the first in turn. */
function readTaken([granted, used, leftMs, window]: TokenReply, limit: number, turn: number): TokenGrant {
  const after = used + Math.min(turn + 1, granted)
  const remaining = Math.max(0, limit - after)
  return { allowed: turn < granted, remaining, resetSeconds: secondsOf(leftMs), window }
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

/** To those who asked, in turn, and to who came meanwhile as far as the units ahead go. */
export function settleBucket(bucket: Bucket, asked: Waiter[], answer: TokenReply): void {
  for (const [turn, resolve] of asked.entries()) resolve(readTaken(answer, bucket.limit, turn))
  bucket.ahead = readPrefetched(answer, bucket.askedAt)
  serveFromPrefetched(bucket)
}
