/** Sends one request of a batch until it is answered. Resending is safe, because every event carries its key. */
import { type Answer, ENDED, type Failure, failure, type Accepted, unexpected } from './answer.ts'
import { type Chunk, type Item, writeBody } from './cut-chunks.ts'
import type { Connection } from './connection-state.ts'
import { callListener } from './report.ts'
import { add } from './tally.ts'
import { now, sleep } from './timers.ts'
import type { BatchFailure, BatchOptions, BatchProgress } from './types.ts'

/** State shared by the requests of one batch. */
export interface Sending {
  connection: Connection
  options: BatchOptions & { timeoutMs: number; patienceMs: number }
  signal: AbortSignal
  /** When the service last accepted a request, or will accept one after the requested pause; on the clock of `now`. */
  takenAt: number
}

/** Adds the outcomes of the items to the tally. After a failure they are unknown. Never rejects. */
export async function sendItems(sending: Sending, { items, tally }: Chunk): Promise<Failure | undefined> {
  if (!items[0]) return undefined
  const { connection, options, signal } = sending
  const { timeoutMs, onWait, patienceMs } = options
  const request = { path: 'track/batch', body: writeBody(items), timeoutMs, deadline: Infinity, signal, tries: 0 }
  const beganAt = now()
  for (;;) {
    const answer = (await connection.exchange(request)) ?? ENDED
    const wait = toWait(sending, answer)
    if (signal.aborted || !wait) return answer.error ? answer : count(items, tally, answer)
    // Excludes time in which no request was sent because the source or the caller was slow.
    if (now() - Math.max(sending.takenAt, beganAt) > patienceMs) return wait
    const waitMs = connection.backOff(request, wait)
    callListener(onWait, { ...wait.error, waitMs })
    await sleep(waitMs, signal)
  }
}

/**
 * Returns the reason to resend, if any. Records when the service last responded, even if only to refuse more for now.
 */
function toWait(sending: Sending, answer: Answer): Failure | undefined {
  if (!answer.error || answer.status === 429) sending.takenAt = now() + (answer.retryAfterMs ?? 0)
  if (answer.error) return answer.error.retryable ? answer : undefined
  return answer.status === 202 && sending.options.awaitOutcome ? BEHIND : undefined
}

const BEHIND = failure('queued', 'The service is behind', true, 202)

/** The service's data in a 200 or 202. */
interface BatchData {
  recorded?: number
  deduped?: number
  failures?: BatchFailure[]
  warnings?: string[]
}

/**
 * Converts the service's indexes, which count within the request. If the numbers do not add up, the response is not
 * from the service.
 */
function count(items: Item[], tally: BatchProgress, { status, data }: Accepted): Failure | undefined {
  const { recorded = 0, deduped = 0, failures = [], warnings = [] } = data as BatchData
  const failed = failures.length
  const queued = status === 202 ? items.length - failed : 0
  const indexOf = (index: number | string): number => items[index as number]!.index
  try {
    if (recorded + deduped + queued + failed !== items.length) return unexpected(status)
    add(tally, {
      recorded,
      deduped,
      queued,
      failed,
      failures: failures.map(({ index, error }) => ({ index: indexOf(index), error })),
      warnings: warnings.map((text) => text.replace(/^item (\d+)/, (_, index: string) => `item ${indexOf(index)}`)),
    })
    return undefined
  } catch {
    return unexpected(status)
  }
}
