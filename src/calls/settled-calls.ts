/** Reports messages of calls that are settled to the front doors whose callers wait for them. */
import type { Logger } from '../log.ts'
import type { Redis } from '../stores/redis.ts'

const CHANNEL = 'sluice:settled-calls'

/** Reports messages without waiting. `redis` in the role `publish`. A report that is lost costs a caller the wait. */
export function createReporter(redis: Redis, log: Logger): (messageIds: readonly string[]) => void {
  return (messageIds) => {
    if (messageIds.length === 0) return
    redis
      .publish(CHANNEL, messageIds.join(' '))
      .catch((error: unknown) => log.debug({ err: error }, 'settled messages were not reported'))
  }
}

export interface SettledCalls {
  /** Begins to wait for a message. Call `end` in any case. */
  begin(messageId: string): { settled: Promise<void>; end: () => void }
  close(): void
}

/** `redis` in the role `subscribe`. Others may use it, too. */
export function listenForSettledCalls(redis: Redis, log: Logger): SettledCalls {
  const waiting = new Map<string, Set<() => void>>()
  const onMessage = (from: string, messageIds: string): void => {
    if (from !== CHANNEL) return
    for (const id of messageIds.split(' ')) for (const resolve of waiting.get(id) ?? []) resolve()
  }
  redis.on('message', onMessage)
  // The connection retries without limit, so a rejection means that it was closed on purpose.
  redis.subscribe(CHANNEL).catch((error: unknown) => log.debug({ err: error }, 'no settled message will be reported'))
  return {
    begin(messageId) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const others = waiting.get(messageId) ?? new Set()
      waiting.set(messageId, others.add(resolve))
      return {
        settled: promise,
        end() {
          others.delete(resolve)
          if (others.size === 0) waiting.delete(messageId)
        },
      }
    },
    close: () => void redis.off('message', onMessage),
  }
}
