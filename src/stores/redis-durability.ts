/** Whether Redis keeps what it has acknowledged, as a 202 promises: in an append-only file, on the disk before each answer. */
import type { Config } from '../config.ts'
import { connectRedis, type Redis } from './redis.ts'
import { describeStore, explainStore } from './require-stores.ts'

export interface Durability {
  /** Settings with which a crash of Redis loses what it has acknowledged. */
  losing: string[]
  /** Settings that this Redis does not show, as managed ones may not. */
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

/** Undefined when Redis refuses CONFIG, or has no such setting. */
async function readSetting(redis: Redis, name: string): Promise<string | undefined> {
  try {
    const [, value] = await redis.config('GET', name)
    return value
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  }
}

const isRefusal = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** For an operator; empty when all is well. */
export function describeDurability({ losing, unchecked }: Durability): string[] {
  return [
    ...(losing.length === 0 ? [] : [`redis: it can lose what it has acknowledged: ${losing.join(', ')}`]),
    ...(unchecked.length === 0
      ? []
      : [`redis: it does not show ${unchecked.join(' and ')}: whether it keeps what it has acknowledged is unknown`]),
  ]
}

/**
 * Rejects when this Redis lets nobody in, or can lose what it has acknowledged and ALLOW_VOLATILE_REDIS does not allow that.
 * Resolves with what is to be reported; one that cannot be reached is not waited for.
 */
export async function requireDurableRedis(config: Config, url: string): Promise<string[]> {
  const redis = connectRedis(url, 'command')
  try {
    if (!(await isReady(redis))) return []
    const durability = await readDurability(redis)
    if (durability.losing.length > 0 && !config.allowVolatileRedis) throw refusal(config, url, durability.losing)
    return describeDurability(durability)
  } catch (error) {
    throw isRefusal(error) ? explainStore(config, 'redisUrl', url, error) : error
  } finally {
    redis.disconnect()
  }
}

const refusal = (config: Config, url: string, losing: string[]): Error =>
  new Error(
    `${describeStore(config, 'redisUrl', url)} can lose events that were acknowledged: ${losing.join(', ')}. ` +
      'Set appendonly yes and appendfsync always in its configuration, or ALLOW_VOLATILE_REDIS=true to accept the loss.',
  )

/** False when it cannot be reached in time. Rejects when it refuses the password. */
async function isReady(redis: Redis): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), READY_MS)
  redis.once('ready', () => resolve(true))
  redis.on('error', (error: Error) => (isRefusal(error) ? reject(error) : undefined))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
