/** Redis scripts of the rate limiter. Each counts and grants in one script, which is atomic. */
import type { Redis } from '../../stores/redis.ts'
import { createTimeoutGuard } from '../../async/with-timeout.ts'

// A window is a hash of the units used and of the time when it opened, which identifies it. A rejected request changes
// nothing. ARGV: window in ms; for each key: limit, units requested. Returns for each key: units granted, units used
// before, ms left, the window.
const TAKE = `
local window = tonumber(ARGV[1])
local replies = {}
for i, key in ipairs(KEYS) do
  local limit, requested = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local stored = redis.call('HMGET', key, 'used', 'opened')
  local used, opened, left = tonumber(stored[1] or '0'), stored[2], redis.call('PTTL', key)
  -- More than a window is left when the clock of Redis was set back.
  if not opened or left <= 0 or left > window then
    local time = redis.call('TIME')
    used, opened, left = 0, time[1] .. '.' .. time[2], window
    redis.call('DEL', key)
    redis.call('HSET', key, 'used', 0, 'opened', opened)
    redis.call('PEXPIRE', key, left)
  end
  local granted = math.max(0, math.min(requested, limit - used))
  if granted > 0 then redis.call('HINCRBY', key, 'used', granted) end
  replies[i] = {granted, used, left, opened}
end
return replies`

// ARGV: window.
const REFUND = `
if redis.call('HGET', KEYS[1], 'opened') ~= ARGV[1] then return end
if tonumber(redis.call('HGET', KEYS[1], 'used')) > 0 then redis.call('HINCRBY', KEYS[1], 'used', -1) end`

export interface TokenRequest {
  key: string
  limit: number
  units: number
}
export type TokenReply = [granted: number, used: number, leftMs: number, window: string]

export interface TokenStore {
  /** Returns one reply per request, in the same order. */
  take(requests: TokenRequest[]): Promise<TokenReply[]>
  /** Refunds one unit. Does nothing when the window has ended. */
  refund(key: string, window: string): Promise<void>
}

interface Scripts {
  takeUnits(keys: number, ...keysAndArguments: (string | number)[]): Promise<TokenReply[]>
  refundUnit(key: string, window: string): Promise<void>
}

/** Both functions reject when Redis has not answered within `timeoutMs`. */
export function openTokenStore(
  redis: Redis,
  { windowMs, timeoutMs }: { windowMs: number; timeoutMs: number },
): TokenStore {
  redis.defineCommand('takeUnits', { lua: TAKE })
  redis.defineCommand('refundUnit', { numberOfKeys: 1, lua: REFUND })
  const scripts = redis as unknown as Scripts
  const inTime = createTimeoutGuard(timeoutMs, 'Redis')
  return {
    take(requests) {
      const keys = requests.map(({ key }) => key)
      const numbers = requests.flatMap(({ limit, units }) => [limit, units])
      return inTime(scripts.takeUnits(keys.length, ...keys, windowMs, ...numbers))
    },
    refund: (key, window) => inTime(scripts.refundUnit(key, window)),
  }
}
