/** Submits requests to the workers and returns their answers to the routes of the front door. */
import { randomUUID } from 'node:crypto'
import type { Config } from '../../config.ts'
import { createInFlightCounter } from '../../async/in-flight-counter.ts'
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import type { WorkerAnswer, IngestRequest } from '../entry.ts'
import { streamKey } from '../keys.ts'
import { readPositions } from '../partitions/positions.ts'
import { type PublishResult, createPublisher } from './publish.ts'
import { createReplies } from './reply.ts'
import { compareIds } from '../stream-id.ts'

/** A request without its number, which the submitter assigns. */
export type NewIngestRequest = IngestRequest extends infer R ? (R extends IngestRequest ? Omit<R, 'n'> : never) : never

export type SubmitResult =
  | { kind: 'answered'; answer: WorkerAnswer }
  /** The request is stored: it was applied or will be applied, exactly once. */
  | { kind: 'queued' }
  /** Nothing was recorded. `retryAfter` is in seconds. */
  | { kind: 'unavailable'; retryAfter: number }
  | { kind: 'outcome_unknown' }

type ResolveSubmit = (submitted: SubmitResult) => void

export type Submit = (request: NewIngestRequest, options?: SubmitOptions) => Promise<SubmitResult>
export interface SubmitOptions {
  /** False: resolves with `queued` right after the append (decisions, "Answering from a stream": respond-async). */
  wait?: boolean
}

export interface SubmitterDeps {
  sql: Sql
  /** One connection for each of these roles. Nothing else may use `publish`; others may subscribe on `subscribe`, too. */
  redis: { publish: Redis; subscribe: Redis; command: Redis }
  log: Logger
}

export interface Submitter {
  submit: Submit
  /** Returns true when a request would be accepted and its answer could be received. */
  isOpen(): boolean
  /**
   * Refuses new requests, and waits for those in flight (at most the answer time-out). Does not close the connections.
   */
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

  // The answer can arrive before Redis confirms the append.
  const submitAndWait = (request: IngestRequest, settle: ResolveSubmit): void => {
    let published: PublishResult | undefined
    let answered: { answer: WorkerAnswer | undefined } | undefined
    const settleWithBoth = () => {
      if (published?.kind !== 'appended' || answered === undefined) return
      const { answer } = answered
      if (answer) settle({ kind: 'answered', answer })
      else void resolveUnanswered(deps, published).then(settle)
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
  const submitOnly = (request: IngestRequest, settle: ResolveSubmit): void =>
    publisher.publish(request, (published) => settle(published.kind === 'appended' ? { kind: 'queued' } : published))

  return {
    submit(request, { wait = true } = {}) {
      const full = closing || running.count() >= config.maxInFlight || (wait && !replies.isListening())
      if (full) return Promise.resolve({ kind: 'unavailable', retryAfter: 1 })
      const numbered: IngestRequest = { ...request, n: replies.nextNumber() }
      running.begin()
      return new Promise((resolve, reject) => {
        const settle = (submitted: SubmitResult): void => {
          running.end()
          resolve(submitted)
        }
        try {
          if (wait) submitAndWait(numbered, settle)
          else submitOnly(numbered, settle)
        } catch (error) {
          replies.forget(numbered.n)
          running.end()
          reject(error)
        }
      })
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
 * Finds the outcome of a request whose answer timed out. The outcome is `queued` when the entry waits in the stream, or
 * when the position has passed it. The stream is read first, because an entry is deleted only after the position has
 * passed it, and a partition is removed only after all its entries were passed. If the connection to Redis was lost in
 * between, Redis may have lost the entry although the position has passed it.
 */
async function resolveUnanswered(
  { redis, sql, log }: SubmitterDeps,
  { partition, id, link }: PublishResult & { kind: 'appended' },
): Promise<SubmitResult> {
  try {
    const found = await redis.command.xrange(streamKey(partition), id, id)
    if (found.length > 0) return { kind: 'queued' }
  } catch (error) {
    log.warn({ err: error, partition }, 'could not check whether an entry waits')
  }
  try {
    const position = (await readPositions(sql)).get(partition)
    const isPassed = position === undefined || compareIds(position, id) >= 0
    if (isPassed && !link.aborted) return { kind: 'queued' }
  } catch (error) {
    log.warn({ err: error, partition }, 'could not check whether an entry was applied')
  }
  return { kind: 'outcome_unknown' }
}
