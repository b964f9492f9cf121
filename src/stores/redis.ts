import type { Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../log.ts'

export type { Redis }

export type RedisRole = 'publish' | 'read' | 'command' | 'limiter' | 'subscribe'

/** A connection can die without an error. It is closed and reopened when commands have had no reply for this long. */
const silentMs = (role: RedisRole): number => (role === 'limiter' ? 1000 : 5000)
/** After a pause of the process, timers run first. This is the time to read replies that arrived during the pause. */
const CATCH_UP_MS = 100

const ROLES: Record<RedisRole, RedisOptions> = {
  // Never resends a command: after a lost reply the outcome is unknown, and a second entry would be wrong.
  publish: {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  },
  // One connection per blocking reader. The reader itself detects a hanging read much sooner.
  read: { maxRetriesPerRequest: null },
  command: { maxRetriesPerRequest: 1, commandTimeout: 5000 },
  // The limiter fails open, so it must fail fast.
  limiter: {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  },
  subscribe: { maxRetriesPerRequest: null, autoResubscribe: true },
}

/** Connects in the background, and reconnects forever. Without a connection, commands fail as their role defines. */
export function connectRedis(url: string, role: RedisRole, log?: Logger): Redis {
  const redis = new Redis(url, {
    connectionName: `sluice-${role}`,
    connectTimeout: 5000,
    // After a failover this server is read-only, and the address may lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    ...ROLES[role],
  })
  // Without a listener ioredis prints to the console. The loss is reported by the commands that fail.
  redis.on('error', (error: Error) => log?.debug({ err: error, role }, 'redis connection lost'))
  cutWhenSilent(redis, silentMs(role))
  return redis
}

/** Uses one timer for all commands. ioredis would set one per command, which takes a third of the command's cost. */
function cutWhenSilent(redis: Redis, ms: number): void {
  const connection = redis as unknown as { commandQueue: ArrayLike<unknown>; stream: Socket }
  let watching = false
  /** Time when data was last received, or when a command was last sent while none was pending. */
  let lastAt = 0
  const watch = (forMs: number, isLast = false) => {
    watching = true
    setTimeout(check, forMs, isLast).unref()
  }
  const check = (isLast: boolean) => {
    watching = false
    if (connection.commandQueue.length === 0) return
    const leftMs = lastAt + ms - performance.now()
    if (leftMs > 0) watch(leftMs)
    else if (!isLast) watch(CATCH_UP_MS, true)
    else connection.stream.destroy(new Error(`Redis has not answered for ${ms} ms`))
  }
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (...command) => {
    if (connection.commandQueue.length === 0) lastAt = performance.now()
    if (!watching) watch(ms)
    return send(...command)
  }
  redis.on('connect', () => connection.stream.on('data', () => (lastAt = performance.now())))
}

/**
 * Resolves when commands can be sent; earlier, roles without an offline queue reject them. Rejects after `timeoutMs`.
 */
export async function whenReady(redis: Redis, timeoutMs = 10_000): Promise<void> {
  if (redis.status === 'ready') return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error(`Redis is not reachable after ${timeoutMs} ms`)), timeoutMs)
  redis.once('ready', resolve)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    redis.off('ready', resolve)
  }
}
