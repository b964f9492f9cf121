/** One request's way to a worker and back, as a route of the front door sees it. */
import { randomUUID } from 'node:crypto'
import type { Config } from '../config.ts'
import { createInFlightCounter } from '../async/in-flight-counter.ts'
import type { Logger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Redis } from '../stores/redis.ts'
import type { WorkerAnswer, IngestRequest } from './entry.ts'
import { streamKey } from './keys.ts'
import { readPositions } from './positions.ts'
import { type Published, createPublisher } from './publish.ts'
import { createReplies } from './reply.ts'
import { compareIds } from './stream-id.ts'

/** A request as the routes make it; the submitter numbers it. */
export type NewIngestRequest = IngestRequest extends infer R ? (R extends IngestRequest ? Omit<R, 'n'> : never) : never

export type Submitted =
  | { kind: 'answered'; answer: WorkerAnswer }
  /** Kept: applied, or about to be, once. */
  | { kind: 'queued' }
  /** Nothing was recorded. `retryAfter` is in seconds. */
  | { kind: 'unavailable'; retryAfter: number }
  | { kind: 'outcome_unknown' }

type Settle = (submitted: Submitted | Promise<Submitted>) => void

export type Submit = (request: NewIngestRequest, options?: SubmitOptions) => Promise<Submitted>
export interface SubmitOptions {
  /** False: `queued` right after the append (decisions, "Answering from a stream": respond-async). */
  wait?: boolean
}

export interface SubmitterDeps {
  sql: Sql
  /** One connection for each of these roles; `publish` and `subscribe` are used by nothing else. */
  redis: { publish: Redis; subscribe: Redis; command: Redis }
  log: Logger
}

export interface Submitter {
  submit: Submit
  /** True when a request would be taken and its answer could come back. */
  isOpen(): boolean
  /** Refuses from now on, waits for what is under way (at most the answer time-out). Connections stay the caller's. */
  close(): Promise<void>
}

type SubmitterConfig = Pick<Config, 'answerTimeoutMs' | 'backlogLimitBytes' | 'maxInFlight'>

export function createSubmitter(deps: SubmitterDeps, config: SubmitterConfig): Submitter {
  const { sql, log } = deps
  const frontDoor = randomUUID()
  const publisher = createPublisher(
    { redis: deps.redis.publish, sql, log },
    { frontDoor, backlogLimitBytes: config.backlogLimitBytes },
  )
  const replies = createReplies(
    { redis: deps.redis.subscribe, log, onPosition: publisher.raiseFloor },
    { frontDoor, answerTimeoutMs: config.answerTimeoutMs },
  )
  const running = createInFlightCounter()
  let closing = false

  // The answer can be here before Redis has said that it took the request.
  const submitAndWait = (request: IngestRequest, settle: Settle): void => {
    let published: Published | undefined
    let answered: { answer: WorkerAnswer | undefined } | undefined
    const settleWithBoth = () => {
      if (published?.kind !== 'appended' || answered === undefined) return
      const { answer } = answered
      settle(answer ? { kind: 'answered', answer } : resolveUnanswered(deps, published))
    }
    replies.wait(request.n, (answer) => {
      answered = { answer }
      settleWithBoth()
    })
    publisher.publish(request, (outcome) => {
      published = outcome
      if (outcome.kind === 'appended') return settleWithBoth()
      replies.forget(request.n)
      settle(outcome)
    })
  }
  const submitOnly = (request: IngestRequest, settle: Settle): void =>
    publisher.publish(request, (published) => settle(published.kind === 'appended' ? { kind: 'queued' } : published))

  return {
    async submit(request, { wait = true } = {}) {
      const full = closing || running.count() >= config.maxInFlight || (wait && !replies.isListening())
      if (full) return { kind: 'unavailable', retryAfter: 1 }
      const numbered: IngestRequest = { ...request, n: replies.nextNumber() }
      running.begin()
      try {
        return await new Promise<Submitted>((settle) => (wait ? submitAndWait : submitOnly)(numbered, settle))
      } finally {
        running.end()
      }
    },
    isOpen: () => !closing && publisher.isOpen() && replies.isListening(),
    async close() {
      closing = true
      await running.whenIdle()
      await publisher.close()
      replies.close()
    },
  }
}

/**
 * No answer came in time: kept when the entry still waits in the stream, or a worker has passed it. In this order: an
 * entry leaves the stream only after the position went past it, and a partition goes only once all of it was passed. A
 * Redis that was away meanwhile may have lost the entry although the position has passed it.
 */
async function resolveUnanswered(
  { redis, sql, log }: SubmitterDeps,
  { partition, id, link }: Published & { kind: 'appended' },
): Promise<Submitted> {
  try {
    const found = await redis.command.xrange(streamKey(partition), id, id)
    if (found.length > 0) return { kind: 'queued' }
  } catch (error) {
    log.warn({ err: error, partition }, 'whether an entry still waits is unknown')
  }
  try {
    const position = (await readPositions(sql)).get(partition)
    const isPassed = position === undefined || compareIds(position, id) >= 0
    if (isPassed && !link.aborted) return { kind: 'queued' }
  } catch (error) {
    log.warn({ err: error, partition }, 'whether an entry was applied is unknown')
  }
  return { kind: 'outcome_unknown' }
}
