import { createHash } from 'node:crypto'
import { type Redis, ReplyError } from 'ioredis'

/** A Lua script. Redis runs it atomically. */
export interface Script {
  source: string
  sha: string
}

export function script(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/**
 * Runs the script by its hash, or by its text when Redis does not know the hash yet. In the second case, a later call
 * can overtake it. The role of the connection decides when it rejects.
 */
export async function runScript(
  redis: Redis,
  lua: Script,
  keys: string[],
  args: (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(lua.sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return redis.eval(lua.source, keys.length, ...keys, ...args)
  }
}

/** Returns true when Redis answered with an error: the connection works, and the first command had no effect. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof (ReplyError as unknown as new () => Error)
}

export function isUnknownScript(error: unknown): boolean {
  return isRefusal(error) && error.message.startsWith('NOSCRIPT')
}
