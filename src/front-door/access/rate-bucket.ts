/** One bucket of the limiter in this front door: who waits for units of it, and those that were taken ahead. No I/O. */
import type { TimeOut } from '../../async/shared-timeouts.ts'
import type { Answer, Question } from './take-tokens.ts'

/** Units are taken for so long ahead, by how many were asked for lately … */
const AHEAD_MS = 25
/** … but never more than the limit allows in a tenth of a second, and only while a tenth of the limit is left besides. */
const MOST_AHEAD = 1 / 600
const LEFT_BESIDES = 1 / 10

export interface Taken {
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

type Waiter = (taken: Taken | null) => void

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
export function beginQuestion(bucket: Bucket, units: number): Question {
  const ahead = wishAhead(bucket)
  bucket.askedAt = performance.now()
  const { key, limit } = bucket
  return { key, limit, units, ahead, besides: limit * LEFT_BESIDES }
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

export function takeAhead({ ahead, limit }: Bucket): Taken | undefined {
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

/** To those who asked, in turn, and to who came meanwhile as far as the units ahead go. */
export function noteAnswer(bucket: Bucket, asked: Waiter[], answer: Answer): void {
  for (const [turn, tell] of asked.entries()) tell(readTaken(answer, bucket.limit, turn))
  bucket.ahead = readAhead(answer, bucket.askedAt)
  serveAhead(bucket)
}
