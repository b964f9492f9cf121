/**
 * Requests a minute, counted in Redis. A window opens with its first request and lasts 60 s. When Redis cannot be asked
 * within 50 ms (the connection's own limit), every request is let through: the limiter fails open, fast.
 */
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
const TAKE = `
local used = tonumber(redis.call('HGET', KEYS[1], 'used') or '0')
local opened = redis.call('HGET', KEYS[1], 'opened')
local left = redis.call('PTTL', KEYS[1])
if not opened or left <= 0 then
  local time = redis.call('TIME')
  used, opened, left = 0, time[1] .. '.' .. time[2], tonumber(ARGV[2])
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'used', 0, 'opened', opened)
  redis.call('PEXPIRE', KEYS[1], left)
end
if used >= tonumber(ARGV[1]) then return {0, used, left, opened} end
return {1, redis.call('HINCRBY', KEYS[1], 'used', 1), left, opened}`

const REFUND = `
if redis.call('HGET', KEYS[1], 'opened') ~= ARGV[1] then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'used')) <= 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'used', -1)
return 1`

interface LimiterCommands {
  takeUnit(key: string, limit: number, windowMs: number): Promise<[number, number, number, string]>
  refundUnit(key: string, window: string): Promise<number>
}

export function createLimiter(deps: { redis: Redis; metrics: Metrics; log: Logger }): Limiter {
  deps.redis.defineCommand('takeUnit', { numberOfKeys: 1, lua: TAKE })
  deps.redis.defineCommand('refundUnit', { numberOfKeys: 1, lua: REFUND })
  const commands = deps.redis as unknown as LimiterCommands
  const failed = createFailureReport(deps)
  return {
    async take(bucket, limit) {
      try {
        const [allowed, used, leftMs, window] = await commands.takeUnit(keyOf(bucket), limit, WINDOW_SECONDS * 1000)
        const resetSeconds = Math.max(1, Math.ceil(leftMs / 1000))
        return { allowed: allowed === 1, remaining: Math.max(0, limit - used), resetSeconds, window }
      } catch (error) {
        failed(error)
        return null
      }
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
