import { createHash } from 'node:crypto'
import { type Redis, ReplyError } from 'ioredis'

/** A piece of Lua that Redis runs in one go: nothing happens between its commands. */
export interface Script {
  source: string
  sha: string
}

export function script(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/**
 * Runs it by its hash, and by its text when Redis does not know it yet: a later call can overtake it then.
 * Rejects as the connection's role says.
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

/** True when Redis itself answered with an error: the connection is well, and the first command did nothing. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof (ReplyError as unknown as new () => Error)
}

export function isUnknownScript(error: unknown): boolean {
  return isRefusal(error) && error.message.startsWith('NOSCRIPT')
}
