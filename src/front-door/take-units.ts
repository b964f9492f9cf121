/** What the limiter asks of Redis: each question is one script, so that counting and granting are one. */
import type { Redis } from '../stores/redis.ts'

// A window is a hash of the units used and of when it opened (which names it). A refused request changes nothing.
// ARGV limit, window in ms, units asked for, units wanted ahead, units that must be left besides for that.
// Returns the units granted, those used before, ms left, the window, the units ahead.
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
local ahead = tonumber(ARGV[4])
if tonumber(ARGV[1]) - used - granted - ahead < tonumber(ARGV[5]) then ahead = 0 end
if granted + ahead > 0 then redis.call('HINCRBY', KEYS[1], 'used', granted + ahead) end
return {granted, used, left, opened, ahead}`

// ARGV window, units.
const REFUND = `
if redis.call('HGET', KEYS[1], 'opened') ~= ARGV[1] then return 0 end
local units = math.min(tonumber(ARGV[2]), tonumber(redis.call('HGET', KEYS[1], 'used')))
if units > 0 then redis.call('HINCRBY', KEYS[1], 'used', -units) end
return units`

export type Answer = [granted: number, used: number, leftMs: number, window: string, ahead: number]

export interface Units {
  /** `ahead`: units wanted beyond, which are given when `besides` would still be left. */
  takeUnits(
    key: string,
    limit: number,
    windowMs: number,
    units: number,
    ahead: number,
    besides: number,
  ): Promise<Answer>
  /** Does nothing once the window is over; resolves with how many were given back. */
  refundUnits(key: string, window: string, units: number): Promise<number>
}

export function openUnits(redis: Redis): Units {
  redis.defineCommand('takeUnits', { numberOfKeys: 1, lua: TAKE })
  redis.defineCommand('refundUnits', { numberOfKeys: 1, lua: REFUND })
  return redis as unknown as Units
}
