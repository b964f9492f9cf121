import type { Logger } from '../log.ts'
import type { Redis } from './redis.ts'

const EVERY_MS = 2000

/**
 * Pings on a connection in the role `subscribe`: nothing else is sent on it, so only pings show that it has died.
 * @returns ends it
 */
export function pingRegularly(redis: Redis, log: Logger): () => void {
  let isPinging = false
  const ping = async (): Promise<void> => {
    if (isPinging || redis.status !== 'ready') return
    isPinging = true
    await redis.ping().catch((error: unknown) => log.debug({ err: error }, 'a ping was not answered'))
    isPinging = false
  }
  const timer = setInterval(() => void ping(), EVERY_MS)
  return () => clearInterval(timer)
}
