/** Calls that wait for their delivery, in memory: bounded, many at a time, one person's in order, each until it is over. */
import { type Answer, ENDED, TIMED_OUT } from './answer.ts'
import { isAway, type Connection } from './connection-state.ts'
import { createOrder } from './order.ts'
import type { PostRequest } from './post.ts'
import type { Settings } from './read-options.ts'
import { createSlots } from './slots.ts'
import { now, sleep } from './timers.ts'

export interface Queue {
  fits(bytes: number): boolean
  /** `keys`: by what its person is known. Resolves when it was taken, refused or given up; never rejects. */
  deliver(request: PostRequest, keys: readonly string[], bytes: number): Promise<Answer>
  /** Resolves when all that is in the queue now has left it. */
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

  /** A call that waits before it is sent again lets others pass; those of its person wait behind it. */
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
