/** Sends any number of past events through `track/batch`, in several concurrent requests of limited size. */
import { ENDED, type Failure } from './answer.ts'
import { type Chunk, cutChunks, MAX_EVENTS, refuseVisitor } from './cut-chunks.ts'
import type { Connection } from './connection-state.ts'
import { keepKeyOrder } from './key-order.ts'
import { readNumbers } from './read-options.ts'
import { sendItems } from './send-chunk.ts'
import { add, nothing } from './tally.ts'
import { abortAfter, ignore, within } from './timers.ts'
import type { BatchEvent, BatchOptions, BatchResult } from './types.ts'

/** Maximum number of concurrent requests. More would only wait for each other in the service. */
const MOST_AT_ONCE = 64

const NUMBERS = { concurrency: 4, chunkSize: MAX_EVENTS, timeoutMs: 120_000, patienceMs: 300_000 }

/**
 * Rejects with TypeError for a `visitorId`, and with any error that `events` or `onProgress` throws, after all requests
 * have ended. The result reports errors of the service and of the network.
 */
export async function trackBatch(
  connection: Connection,
  events: Iterable<BatchEvent> | AsyncIterable<BatchEvent>,
  given: BatchOptions = {},
): Promise<BatchResult> {
  const options = { ...given, ...readNumbers(NUMBERS, given) }
  // Checks the events of an array before the first request.
  if (Array.isArray(events)) (events as BatchEvent[]).forEach(refuseVisitor)
  const ending = abortAfter(Infinity, given.signal)
  const { signal } = ending
  const sending = { connection, options, signal, takenAt: 0 }
  const send = keepKeyOrder((chunk) => sendItems(sending, chunk))
  const chunks = cutChunks(events, Math.min(options.chunkSize, MAX_EVENTS))
  const total = nothing()
  let end: Failure | undefined
  let settled: Promise<void> = Promise.resolve()

  /**
   * Sends a chunk and settles it after the earlier ones. A failure ends the batch, because nothing after it can be
   * settled.
   */
  const handle = async (chunk: Chunk, before: Promise<void>): Promise<void> => {
    const failed = await send(chunk)
    await before
    if (signal.aborted) return
    if (failed) {
      end = failed
      // The failure itself is in `end`.
      throw new Error()
    }
    const { failures, warnings } = chunk.tally
    failures.sort((a, b) => a.index - b.index)
    add(total, chunk.tally)
    await options.onProgress?.({ ...total, failures, warnings })
  }
  const work = async (): Promise<void> => {
    for (;;) {
      // Does not wait after the end, because the source may never deliver another event.
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
