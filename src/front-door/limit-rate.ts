/**
 * Requests a minute, counted in Redis. A window opens with its first request and lasts 60 s. When Redis cannot be asked
 * in time (RATE_LIMIT_TIMEOUT_MS, the connection's own limit), every request is let through: the limiter fails open, fast.
 * One question of a bucket is under way at a time, and whoever comes meanwhile asks together in the next: a question for
 * each would cost more than the rest of the road. So nobody waits for long, and the more come, the more ask together.
 */
import { setImmediate } from 'node:timers'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Redis } from '../stores/redis.ts'

export const WINDOW_SECONDS = 60
const WARN_EVERY_MS = 10_000

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
  take(bucket: string, limit: number): Promise<Taken | null>
  /** Gives a unit back to the window that it was taken from, if that is still open. */
  refund(bucket: string, window: string): Promise<void>
}

// A window is a hash of the units used and of when it opened (which names it). A refused request changes nothing.
// ARGV limit, window in ms, units asked for. Returns the units granted, those used before, ms left, the window.
const TAKE = `
local used = tonumber(redis.call('HGET', KEYS[1], 'used') or '0')
local opened = redis.call('HGET', KEYS[1], 'opened')
local left = redis.call('PTTL', KEYS[1])
-- More than a window is left when the clock was set back since.
if not opened or left <= 0 or left > tonumber(ARGV[2]) then
  local time = redis.call('TIME')
  used, opened, left = 0, time[1] .. '.' .. time[2], tonumber(ARGV[2])
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'used', 0, 'opened', opened)
  redis.call('PEXPIRE', KEYS[1], left)
end
local granted = math.max(0, math.min(tonumber(ARGV[3]), tonumber(ARGV[1]) - used))
if granted > 0 then redis.call('HINCRBY', KEYS[1], 'used', granted) end
return {granted, used, left, opened}`

const REFUND = `
if redis.call('HGET', KEYS[1], 'opened') ~= ARGV[1] then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'used')) <= 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'used', -1)
return 1`

interface LimiterCommands {
  takeUnits(key: string, limit: number, windowMs: number, units: number): Promise<[number, number, number, string]>
  refundUnit(key: string, window: string): Promise<number>
}

export function createLimiter(deps: { redis: Redis; metrics: Metrics; log: Logger }): Limiter {
  deps.redis.defineCommand('takeUnits', { numberOfKeys: 1, lua: TAKE })
  deps.redis.defineCommand('refundUnit', { numberOfKeys: 1, lua: REFUND })
  const commands = deps.redis as unknown as LimiterCommands
  const failed = createFailureReport(deps)
  const questions = new Map<string, Question>()

  /** Asks for as long as somebody waits. */
  async function ask(name: string, question: Question): Promise<void> {
    const { bucket, limit } = question
    while (question.waiters.length > 0) {
      const waiters = question.waiters.splice(0)
      try {
        const answer = await commands.takeUnits(keyOf(bucket), limit, WINDOW_SECONDS * 1000, waiters.length)
        for (const [turn, tell] of waiters.entries()) tell(readTaken(answer, limit, turn))
      } catch (error) {
        // Who came meanwhile has waited too: the time-out is everybody's.
        for (const tell of [...waiters, ...question.waiters.splice(0)]) {
          failed(error)
          tell(null)
        }
      }
    }
    questions.delete(name)
  }

  return {
    take(bucket, limit) {
      // The limit of a business may change in between.
      const name = `${limit} ${bucket}`
      let question = questions.get(name)
      if (question === undefined) {
        const first = { bucket, limit, waiters: [] }
        questions.set(name, (question = first))
        setImmediate(() => void ask(name, first))
      }
      const { waiters } = question
      return new Promise((tell) => waiters.push(tell))
    },
    async refund(bucket, window) {
      try {
        await commands.refundUnit(keyOf(bucket), window)
      } catch (error) {
        failed(error)
      }
    },
  }
}

/** What is asked of one bucket next: a unit for each waiter. */
interface Question {
  bucket: string
  limit: number
  waiters: ((taken: Taken | null) => void)[]
}

/** The units that were granted go to the first in turn. */
function readTaken(
  [granted, used, leftMs, window]: [number, number, number, string],
  limit: number,
  turn: number,
): Taken {
  const resetSeconds = Math.max(1, Math.ceil(leftMs / 1000))
  const after = used + Math.min(turn + 1, granted)
  return { allowed: turn < granted, remaining: Math.max(0, limit - after), resetSeconds, window }
}

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
