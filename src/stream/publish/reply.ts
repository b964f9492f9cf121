/** Sends and receives answers: one message per micro-batch and front door, on one channel per front door. */
import { pingRegularly } from '../../stores/ping.ts'
import type { Redis } from '../../stores/redis.ts'
import type { Logger } from '../../log.ts'
import { type SharedTimeout, createSharedTimeouts } from '../../async/shared-timeouts.ts'
import type { WorkerAnswer, AnswerMessage } from '../entry.ts'
import { answersChannel } from '../keys.ts'
import type { AddressedAnswer } from '../micro-batch.ts'

export interface RepliesDeps {
  /** Connection in the role `subscribe`. Others may subscribe on it, too. */
  redis: Redis
  log: Logger
  /** Called with the committed position that every message carries. */
  onPosition: (partition: string, position: string) => void
}

export interface Replies {
  /** Returns the next request number. */
  nextNumber(): number
  /** Calls `resolve` with the answer, or with undefined after the time-out. Call it before the request is sent. */
  wait(n: number, resolve: (answer: WorkerAnswer | undefined) => void): void
  /** Stops waiting. `resolve` is not called. */
  forget(n: number): void
  /** False while answers cannot arrive. */
  isListening(): boolean
  /** Resolves every wait with undefined. The subscription ends with the connection, which belongs to the caller. */
  close(): void
}

interface PendingReply {
  resolve: (answer: WorkerAnswer | undefined) => void
  timeout: SharedTimeout
}
export interface RepliesOptions {
  /** The channel that answers arrive on. */
  frontDoor: string
  answerTimeoutMs: number
}

export function createReplies(deps: RepliesDeps, { frontDoor, answerTimeoutMs }: RepliesOptions): Replies {
  const waiting = new Map<number, PendingReply>()
  const timeouts = createSharedTimeouts(answerTimeoutMs)
  const channel = answersChannel(frontDoor)
  let last = 0
  let subscribed = false

  const forget = (n: number): PendingReply | undefined => {
    const known = waiting.get(n)
    if (known === undefined) return undefined
    waiting.delete(n)
    timeouts.end(known.timeout)
    return known
  }
  const resolveReply = (n: number, answer: WorkerAnswer | undefined): void => forget(n)?.resolve(answer)
  const onMessage = (from: string, text: string): void => {
    if (from !== channel) return
    const message = JSON.parse(text) as AnswerMessage
    deps.onPosition(message.partition, message.position)
    for (const [n, answer] of message.answers) resolveReply(n, answer)
  }
  const endPings = pingRegularly(deps.redis, deps.log)

  deps.redis.on('message', onMessage)
  // The connection retries without limit, so a rejection means that it was closed on purpose.
  deps.redis.subscribe(channel).then(
    () => (subscribed = true),
    (error: unknown) => deps.log.warn({ err: error }, 'cannot listen for answers'),
  )

  return {
    nextNumber: () => ++last,
    wait(n, resolve) {
      waiting.set(n, { resolve, timeout: timeouts.begin(() => resolveReply(n, undefined)) })
    },
    forget: (n) => void forget(n),
    isListening: () => subscribed && deps.redis.status === 'ready',
    close() {
      endPings()
      deps.redis.off('message', onMessage)
      for (const n of waiting.keys()) resolveReply(n, undefined)
      timeouts.close()
    },
  }
}

/** Sends answers to one front door. `redis` is a connection in the role `command`. */
export function sendAnswers(redis: Redis, frontDoor: string, message: AnswerMessage): Promise<number> {
  return redis.publish(answersChannel(frontDoor), JSON.stringify(message))
}

/** Groups the answers by front door, for one message each. */
export function groupAnswers(answers: AddressedAnswer[]): Map<string, AnswerMessage['answers']> {
  const groups = new Map<string, AnswerMessage['answers']>()
  for (const { frontDoor, n, answer } of answers) {
    const group = groups.get(frontDoor)
    if (group) group.push([n, answer])
    else groups.set(frontDoor, [[n, answer]])
  }
  return groups
}
