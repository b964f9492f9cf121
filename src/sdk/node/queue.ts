/**
 * Calls that wait for delivery in memory: limited in number and size, concurrent, but in order for each person, and
 * retried until settled.
 */
import { type Answer, ENDED, TIMED_OUT } from './answer.ts'
import { isAway, type Connection } from './connection-state.ts'
import { createOrder } from './order.ts'
import type { PostRequest } from './post.ts'
import type { Settings } from './read-options.ts'
import { createSlots } from './slots.ts'
import { now, sleep } from './timers.ts'

export interface Queue {
  fits(bytes: number): boolean
  /**
   * `keys`: identify the person of the call. Resolves when the call was accepted, refused or given up; never rejects.
   */
  deliver(request: PostRequest, keys: readonly string[], bytes: number): Promise<Answer>
  /** Resolves when all calls that are in the queue now have left it. */
  settled(): Promise<void>
}

export function createQueue(
  connection: Connection,
  { maxQueue, maxQueueBytes, maxTries, concurrency }: Settings,
): Queue {
  const inOrder = createOrder()
  const takeSlot = createSlots(concurrency)
  const waiting = new Set<Promise<Answer>>()
  let held = 0

  /** Calls about other people may pass a call that waits for its retry. Calls about the same person wait behind it. */
  const sendUntilOver = async (request: PostRequest): Promise<Answer> => {
    const { signal, deadline } = request
    let last: Answer = TIMED_OUT
    let left = maxTries
    for (;;) {
      const answer = await takeSlot(() => connection.exchange(request))
      if (!answer) return signal.aborted ? ENDED : last
      last = answer
      if (!isAway(answer.status) && answer.status !== 429) left--
      const waitMs = connection.backOff(request, answer)
      if (!answer.error?.retryable || left <= 0 || now() + waitMs >= deadline) return answer
      await sleep(waitMs, signal)
    }
  }

  return {
    fits: (bytes) => waiting.size < maxQueue && held + bytes <= maxQueueBytes,
    deliver(request, keys, bytes) {
      held += bytes
      const delivery = inOrder(keys, () => sendUntilOver(request)).finally(() => {
        waiting.delete(delivery)
        held -= bytes
      })
      waiting.add(delivery)
      return delivery
    },
    async settled() {
      await Promise.all(waiting)
    },
  }
}
