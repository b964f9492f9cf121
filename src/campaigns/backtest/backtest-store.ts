/**
 * Stores backtests in Redis while they run and for an hour afterwards, so that every front door finds them. The process
 * of a running backtest renews its lease. When the lease expires, the backtest has failed.
 */
import { runScript, script } from '../../stream/run-script.ts'
import type { Redis } from '../../stores/redis.ts'
import type { BacktestResult, Progress } from './run-backtest.ts'

export const BACKTEST_STATUSES = ['running', 'done', 'failed', 'cancelled'] as const
export type BacktestStatus = (typeof BACKTEST_STATUSES)[number]

/** Instants are ISO 8601 UTC. */
export interface Backtest {
  backtestId: string
  campaignId: string
  /** The campaign of the backtest. */
  version: number
  from: string
  to: string
  status: BacktestStatus
  startedAt: string
  endedAt: string | null
  progress: Progress
  /** Null unless it is done. */
  result: BacktestResult | null
  /** Reason of the failure, in words. */
  error: string | null
}

export const MAX_RUNNING = 2
/** Per business. Older ones are deleted. */
export const MAX_KEPT = 20
export const KEEP_MS = 3_600_000
/** Lease of a running backtest, in milliseconds. A process that does not renew it is gone. */
export const LEASE_MS = 15_000

interface Key {
  businessId: string
  campaignId: string
  backtestId: string
}

const running = (businessId: string): string => `sluice:{${businessId}}:backtests-running`
const kept = (businessId: string): string => `sluice:{${businessId}}:backtests`
const stateKey = ({ businessId, campaignId, backtestId }: Key): string =>
  `sluice:{${businessId}}:backtest:${memberOf({ campaignId, backtestId })}`
const memberOf = ({ campaignId, backtestId }: Omit<Key, 'businessId'>): string => `${campaignId}:${backtestId}`

const CLOCK = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`

/** KEYS running, kept, state; ARGV member, campaign, most running, most kept, lease, time to keep, state. */
const BEGIN = script(`${CLOCK}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if string.sub(member, 1, #ARGV[2]) == ARGV[2] then return 'campaign' end
end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 'business' end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[5]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('SET', KEYS[3], ARGV[7], 'PX', ARGV[6])
redis.call('ZADD', KEYS[2], now, KEYS[3])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
local many = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if many > 0 then
  redis.call('DEL', unpack(redis.call('ZRANGE', KEYS[2], 0, many - 1)))
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, many - 1)
end
return 'begun'
`)

/** KEYS running, state; ARGV member, lease, time to keep, state. Returns 0 when it no longer runs. */
const HOLD = script(`${CLOCK}
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held or tonumber(held) <= now then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[3])
return 1
`)

/** KEYS running, state; ARGV member, time to keep, state. Returns 0 when it no longer ran. */
const END = script(`${CLOCK}
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
if not held or tonumber(held) <= now then return 0 end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
return 1
`)

/** KEYS running, state; ARGV member. Returns the state, if there is one, and 1 when its lease is valid. */
const READ = script(`${CLOCK}
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
return { redis.call('GET', KEYS[2]), (held and tonumber(held) > now) and 1 or 0 }
`)

/** `campaign`, `business`: which of them has the maximum number of running backtests. */
export async function beginBacktest(
  redis: Redis,
  businessId: string,
  backtest: Backtest,
): Promise<'begun' | 'campaign' | 'business'> {
  const key = { businessId, ...backtest }
  const args = [memberOf(key), backtest.campaignId, MAX_RUNNING, MAX_KEPT, LEASE_MS, KEEP_MS, JSON.stringify(backtest)]
  return (await runScript(redis, BEGIN, [running(businessId), kept(businessId), stateKey(key)], args)) as
    | 'begun'
    | 'campaign'
    | 'business'
}

/** Renews the lease and stores the progress. Returns false when the backtest was cancelled or its lease has expired. */
export async function renewBacktest(redis: Redis, businessId: string, backtest: Backtest): Promise<boolean> {
  const key = { businessId, ...backtest }
  const args = [memberOf(key), LEASE_MS, KEEP_MS, JSON.stringify(backtest)]
  return (await runScript(redis, HOLD, [running(businessId), stateKey(key)], args)) === 1
}

/** Returns false when it had ended before. */
export async function endBacktest(redis: Redis, businessId: string, backtest: Backtest): Promise<boolean> {
  const key = { businessId, ...backtest }
  const args = [memberOf(key), KEEP_MS, JSON.stringify(backtest)]
  return (await runScript(redis, END, [running(businessId), stateKey(key)], args)) === 1
}

/** Returns null when there is none, or it was deleted. */
export async function readBacktest(redis: Redis, key: Key): Promise<Backtest | null> {
  const keys = [running(key.businessId), stateKey(key)]
  const [text, isHeld] = (await runScript(redis, READ, keys, [memberOf(key)])) as [string | null, 0 | 1]
  if (text === null) return null
  const backtest = JSON.parse(text) as Backtest
  return backtest.status === 'running' && isHeld === 0 ? { ...backtest, status: 'failed', error: GONE } : backtest
}

const GONE = 'The process that ran it has stopped. Start the backtest again.'
