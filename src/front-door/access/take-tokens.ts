/** Redis scripts of the rate limiter. Each counts and grants in one script, which is atomic. */
import type { Redis } from '../../stores/redis.ts'
import { createTimeoutGuard } from '../../async/with-timeout.ts'

// A window is a hash of the units used and of the time when it opened, which identifies it. A rejected request changes
// nothing. ARGV: window in ms; for each key: limit, units requested, units to prefetch, units that must be left after
// the prefetch. Returns for each key: units granted, units used before, ms left, the window, units prefetched.
const TAKE = `
local window = tonumber(ARGV[1])
local replies = {}
for i, key in ipairs(KEYS) do
  local limit, requested, prefetch, reserve =
    tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i]), tonumber(ARGV[4 * i + 1])
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
  if limit - used - granted - prefetch < reserve then prefetch = 0 end
  if granted + prefetch > 0 then redis.call('HINCRBY', key, 'used', granted + prefetch) end
  replies[i] = {granted, used, left, opened, prefetch}
end
return replies`

// ARGV: window, units.
const REFUND = `
if redis.call('HGET', KEYS[1], 'opened') ~= ARGV[1] then return 0 end
local units = math.min(tonumber(ARGV[2]), tonumber(redis.call('HGET', KEYS[1], 'used')))
if units > 0 then redis.call('HINCRBY', KEYS[1], 'used', -units) end
return units`

export interface TokenRequest {
  key: string
  limit: number
  units: number
  /** Units to prefetch. They are granted if `reserve` units are left after them. */
  prefetch: number
  reserve: number
}
export type TokenReply = [granted: number, used: number, leftMs: number, window: string, prefetched: number]

export interface TokenStore {
  /** Returns one reply per request, in the same order. */
  take(requests: TokenRequest[]): Promise<TokenReply[]>
  /** Does nothing when the window has ended. Resolves with the number of refunded units. */
  refund(key: string, window: string, units: number): Promise<number>
}

interface Scripts {
  takeUnits(keys: number, ...keysAndArguments: (string | number)[]): Promise<TokenReply[]>
  refundUnits(key: string, window: string, units: number): Promise<number>
}

/** Both functions reject when Redis has not answered within `timeoutMs`. */
export function openTokenStore(
  redis: Redis,
  { windowMs, timeoutMs }: { windowMs: number; timeoutMs: number },
): TokenStore {
  redis.defineCommand('takeUnits', { lua: TAKE })
  redis.defineCommand('refundUnits', { numberOfKeys: 1, lua: REFUND })
  const scripts = redis as unknown as Scripts
  const inTime = createTimeoutGuard(timeoutMs, 'Redis')
  return {
    take(requests) {
      const keys = requests.map(({ key }) => key)
      const numbers = requests.flatMap(({ limit, units, prefetch, reserve }) => [limit, units, prefetch, reserve])
      return inTime(scripts.takeUnits(keys.length, ...keys, windowMs, ...numbers))
    },
    refund: (key, window, units) => inTime(scripts.refundUnits(key, window, units)),
  }
}
