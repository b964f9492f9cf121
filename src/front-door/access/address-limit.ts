/**
 * Limits the messages of send calls to one address, in any hour, because a public form that sends codes is abused to send
 * very many. The instants of the latest ones are in Redis. When Redis does not answer in time, messages are let through.
 */
import type { Logger } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { createTimeoutGuard } from '../../async/with-timeout.ts'
import type { AddressGrant } from '../../calls/record-call.ts'
import type { Redis } from '../../stores/redis.ts'

const HOUR_MS = 3_600_000

// ARGV: limit, window in ms, the id of the message. Returns 0 when it may be sent, else the ms until another one may.
const TAKE = `
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
-- Set back: those of the future would never fall out in time.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. now + window, '+inf')
local used = redis.call('ZCARD', KEYS[1])
if used >= limit then
  local next = redis.call('ZRANGE', KEYS[1], used - limit, used - limit, 'WITHSCORES')
  return math.max(1, tonumber(next[2]) + window - now)
end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('PEXPIRE', KEYS[1], window)
return 0`

export interface AddressLimit {
  /** `name` identifies the address. */
  take(name: string, limit: number): Promise<AddressGrant>
}

interface Scripts {
  takeAddress(key: string, limit: number, windowMs: number, id: string): Promise<number>
}

const LET_THROUGH: AddressGrant = { allowed: true, giveBack: () => undefined }

export function createAddressLimit(
  { redis, metrics, log }: { redis: Redis; metrics: Metrics; log: Logger },
  timeoutMs: number,
): AddressLimit {
  redis.defineCommand('takeAddress', { numberOfKeys: 1, lua: TAKE })
  const scripts = redis as unknown as Scripts
  const inTime = createTimeoutGuard(timeoutMs, 'Redis')
  const ignore = (error: unknown): void => {
    metrics.rateLimiterErrors.inc()
    log.debug({ err: error }, 'the limit of an address was not counted')
  }
  return {
    async take(name, limit) {
      const key = `sluice:address:${name}`
      const id = crypto.randomUUID()
      try {
        const ms = await inTime(scripts.takeAddress(key, limit, HOUR_MS, id))
        if (ms > 0) return { allowed: false, retryAfter: Math.ceil(ms / 1000) }
        return { allowed: true, giveBack: () => void redis.zrem(key, id).catch(ignore) }
      } catch (error) {
        ignore(error)
        return LET_THROUGH
      }
    },
  }
}
