import type { Redis } from '../../stores/redis.ts'
import { PROBE_KEY } from '../keys.ts'
import { isRefusal } from '../run-script.ts'

const EXPIRES_MS = 60_000

/**
 * Returns the error with which Redis refuses writes; undefined when it accepts them. Such as NOREPLICAS (too few
 * replicas), READONLY (it has become a replica), OOM (its memory is full), MISCONF (it cannot save to its disk).
 */
export async function findWriteRefusal(redis: Redis): Promise<string | undefined> {
  try {
    await redis.set(PROBE_KEY, '1', 'PX', EXPIRES_MS)
    return undefined
  } catch (error) {
    if (!isRefusal(error)) throw error
    return error.message.replace(/\.$/, '')
  }
}
