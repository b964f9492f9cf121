import type { Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../log.ts'

export type { Redis }

export type RedisRole = 'publish' | 'read' | 'command' | 'limiter' | 'subscribe'

/** A link can die without a word: one that leaves commands unanswered for so long is cut, and made anew. */
const silentMs = (role: RedisRole): number => (role === 'limiter' ? 1000 : 5000)
/** A process that stood still wakes to its timers first: it has so long to read what came meanwhile. */
const READING_MS = 100

const ROLES: Record<RedisRole, RedisOptions> = {
  // Never re-sends: a lost reply is an unknown outcome, not a second entry.
  publish: {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  },
  // One connection per blocking reader; the reader itself watches for a read that never returns, much sooner.
  read: { maxRetriesPerRequest: null },
  command: { maxRetriesPerRequest: 1, commandTimeout: 5000 },
  // The limiter fails open, so failing must be fast.
  limiter: {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  },
  subscribe: { maxRetriesPerRequest: null, autoResubscribe: true },
}

/** Connects in the background and for ever again after a loss; commands fail as their role says meanwhile. */
export function connectRedis(url: string, role: RedisRole, log?: Logger): Redis {
  const redis = new Redis(url, {
    connectionName: `sluice-${role}`,
    connectTimeout: 5000,
    // After a failover the address may lead to another server; this one only reads from now on.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    ...ROLES[role],
  })
  // Without a listener ioredis prints to the console; what a loss means, the failing commands tell.
  redis.on('error', (error: Error) => log?.debug({ err: error, role }, 'redis connection lost'))
  cutWhenSilent(redis, silentMs(role))
  return redis
}

/** One timer looks after all commands: ioredis would set one for each, which costs a third of the command. */
function cutWhenSilent(redis: Redis, ms: number): void {
  const link = redis as unknown as { commandQueue: ArrayLike<unknown>; stream: Socket }
  let watching = false
  /** When something was heard, or asked while nothing was under way. */
  let lastAt = 0
  const watch = (forMs: number, isLast = false) => {
    watching = true
    setTimeout(look, forMs, isLast).unref()
  }
  const look = (isLast: boolean) => {
    watching = false
    if (link.commandQueue.length === 0) return
    const leftMs = lastAt + ms - performance.now()
    if (leftMs > 0) watch(leftMs)
    else if (!isLast) watch(READING_MS, true)
    else link.stream.destroy(new Error(`Redis has not answered for ${ms} ms`))
  }
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (...command) => {
    if (link.commandQueue.length === 0) lastAt = performance.now()
    if (!watching) watch(ms)
    return send(...command)
  }
  redis.on('connect', () => link.stream.on('data', () => (lastAt = performance.now())))
}

/** Resolves once commands can be sent (roles without an offline queue refuse them before). Rejects after `timeoutMs`. */
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
