/**
 * Checks that Redis keeps acknowledged data, as a 202 promises: in an append-only file that is synced before each
 * reply.
 */
import type { Config } from '../config.ts'
import { connectRedis, type Redis } from './redis.ts'
import { describeStore, describeStoreError } from './require-stores.ts'
import { StoreModeError, refuseRedisMode } from './store-mode.ts'

export interface Durability {
  /** Settings that let Redis lose acknowledged data in a crash. */
  losing: string[]
  /** Settings that this Redis does not reveal. Managed ones may hide them. */
  unchecked: string[]
}

const READY_MS = 2000

export async function readDurability(redis: Redis): Promise<Durability> {
  const [persistence, appendfsync] = await Promise.all([redis.info('persistence'), readSetting(redis, 'appendfsync')])
  const enabled = /^aof_enabled:(\d)/m.exec(persistence)?.[1]
  const settings = { appendonly: enabled === undefined ? undefined : enabled === '1' ? 'yes' : 'no', appendfsync }
  const wanted: Record<string, string> = { appendonly: 'yes', appendfsync: 'always' }
  const found = Object.entries(settings)
  return {
    losing: found.flatMap(([name, value]) =>
      value === undefined || value === wanted[name] ? [] : [`${name} is ${value}`],
    ),
    unchecked: found.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  }
}

/** Undefined when Redis rejects CONFIG, or does not have the setting. */
async function readSetting(redis: Redis, name: string): Promise<string | undefined> {
  try {
    const [, value] = await redis.config('GET', name)
    return value
  } catch (error) {
    if (isReplyError(error)) return undefined
    throw error
  }
}

const isReplyError = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Warnings for an operator; empty when Redis is durable. */
export function describeDurability({ losing, unchecked }: Durability): string[] {
  return [
    ...(losing.length === 0 ? [] : [`redis: it can lose acknowledged data: ${losing.join(', ')}`]),
    ...(unchecked.length === 0
      ? []
      : [`redis: it does not show ${unchecked.join(' and ')}, so it is unknown whether it can lose acknowledged data`]),
  ]
}

/**
 * Returns warnings to report. Rejects when Redis refuses the connection, or can lose acknowledged data and
 * ALLOW_VOLATILE_REDIS is not set. Does not wait for an unreachable Redis.
 */
export async function requireDurableRedis(config: Config, url: string): Promise<string[]> {
  const redis = connectRedis(url, 'command')
  try {
    if (!(await isReady(redis))) return []
    await refuseRedisMode(redis)
    const durability = await readDurability(redis)
    if (durability.losing.length > 0 && !config.allowVolatileRedis) throw volatileError(config, url, durability.losing)
    return describeDurability(durability)
  } catch (error) {
    throw isReplyError(error) || error instanceof StoreModeError
      ? describeStoreError(config, 'redisUrl', url, error)
      : error
  } finally {
    redis.disconnect()
  }
}

/** Rejects when Sluice cannot use this server. Does not wait for an unreachable Redis. */
export async function requireRedisServer(config: Config, url: string): Promise<void> {
  const redis = connectRedis(url, 'command')
  try {
    if (await isReady(redis).catch(() => false)) await refuseRedisMode(redis)
  } catch (error) {
    if (error instanceof StoreModeError) throw describeStoreError(config, 'redisUrl', url, error)
  } finally {
    redis.disconnect()
  }
}

const volatileError = (config: Config, url: string, losing: string[]): Error =>
  new Error(
    `${describeStore(config, 'redisUrl', url)} can lose events that were acknowledged: ${losing.join(', ')}. ` +
      'Set appendonly yes and appendfsync always in its configuration, or ALLOW_VOLATILE_REDIS=true to accept the loss.',
  )

/** Resolves to false when Redis cannot be reached in time. Rejects when Redis rejects the password. */
async function isReady(redis: Redis): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), READY_MS)
  redis.once('ready', () => resolve(true))
  redis.on('error', (error: Error) => (isReplyError(error) ? reject(error) : undefined))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
