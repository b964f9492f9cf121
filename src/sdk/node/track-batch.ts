/** Any number of past events through `track/batch`, in requests of what one can carry, some at a time. */
import { ENDED, type Failure } from './answer.ts'
import { type Chunk, cutChunks, MAX_EVENTS, refuseVisitor } from './cut-chunks.ts'
import type { Connection } from './connection-state.ts'
import { readNumbers } from './read-options.ts'
import { sendItems } from './send-chunk.ts'
import { add, nothing } from './tally.ts'
import { abortAfter, ignore, within } from './timers.ts'
import type { BatchEvent, BatchOptions, BatchResult } from './types.ts'

/** Requests: more would wait for each other in the service. */
const MOST_AT_ONCE = 64

const NUMBERS = { concurrency: 4, chunkSize: MAX_EVENTS, timeoutMs: 120_000, patienceMs: 300_000 }

/**
 * Rejects with TypeError for a `visitorId`, and with whatever `events` or `onProgress` throws, once nothing is under way
 * any more; what the service or the network does is in the result.
 */
export async function trackBatch(
  connection: Connection,
  events: Iterable<BatchEvent> | AsyncIterable<BatchEvent>,
  given: BatchOptions = {},
): Promise<BatchResult> {
  const options = { ...given, ...readNumbers(NUMBERS, given) }
  // Those that are all there already are looked through before the first request.
  if (Array.isArray(events)) (events as BatchEvent[]).forEach(refuseVisitor)
  const ending = abortAfter(Infinity, given.signal)
  const { signal } = ending
  const sending = { connection, options, signal, takenAt: 0 }
  const chunks = cutChunks(events, Math.min(options.chunkSize, MAX_EVENTS))
  const total = nothing()
  let end: Failure | undefined
  let settled: Promise<void> = Promise.resolve()

  /** Settles its chunk when those before it are. A failure is the end: nothing after it can be settled. */
  const handle = async (chunk: Chunk, before: Promise<void>): Promise<void> => {
    const failed = await sendItems(sending, chunk)
    await before
    if (signal.aborted) return
    if (failed) {
      end = failed
      // What it was is in `end`.
      throw new Error()
    }
    const { failures, warnings } = chunk.tally
    failures.sort((a, b) => a.index - b.index)
    add(total, chunk.tally)
    await options.onProgress?.({ ...total, failures, warnings })
  }
  const work = async (): Promise<void> => {
    for (;;) {
      // Not waited for past the end: a source that is silent now may stay so.
      const next = await within(Infinity, () => chunks.next(), signal)
      const chunk = next?.value
      if (!chunk) return
      settled = handle(chunk, settled)
      settled.catch(() => ending.abort())
      await settled
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(options.concurrency, MOST_AT_ONCE) }, work))
  const failed = workers.find((worker) => worker.status === 'rejected')
  if (signal.aborted && !failed) end = ENDED
  ending.abort()
  chunks.return(undefined).catch(ignore)
  if (failed && !end) throw failed.reason
  return { ok: !end && total.failed === 0, ...total, ...(end && { error: { ...end.error, status: end.status } }) }
}
