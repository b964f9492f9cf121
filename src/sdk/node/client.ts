/** Combines the parts of a client. */
import { type Answer, ENDED, failure, reasonOf, TIMED_OUT } from './answer.ts'
import { createConnection } from './connection-state.ts'
import { keysOf } from './order.ts'
import type { PostRequest } from './post.ts'
import { createQueue } from './queue.ts'
import { readDeadline, readOptions } from './read-options.ts'
import { createConsoleReport, callListener } from './report.ts'
import { holdProcess, now, sleep, within } from './timers.ts'
import { trackBatch } from './track-batch.ts'
import type {
  BatchEvent,
  BatchOptions,
  DeliveryResult,
  EventInput,
  IdentifyInput,
  Lost,
  SluiceOptions,
  TrackNowOptions,
} from './types.ts'
import { bytesOf, toPlain, withKey, withTime } from './write-json.ts'

/** The service's limit for one event or person. */
const MAX_BODY_BYTES = 256 * 1024
const TOO_LARGE = failure('payload_too_large', `Larger than ${MAX_BODY_BYTES} bytes`, false)
const FULL = failure('queue_full', 'The queue is full')

/**
 * Maximum number of immediately lost calls to report in one turn of the event loop. A listener that calls again for
 * each of them, even after an `await`, would otherwise block the loop forever.
 */
const MAX_REPORTS_PER_TURN = 1_000

type Operation = Lost['operation']
type Input = EventInput | IdentifyInput

/** Throws TypeError when an option is missing or invalid. */
export function openClient(options: SluiceOptions) {
  const { onError = createConsoleReport() } = options
  const settings = readOptions(options)
  const connection = createConnection(settings)
  const queue = createQueue(connection, settings)
  const stop = new AbortController()
  const { signal } = stop
  let isClosed = false
  let isReporting = false
  let concluded = 0
  let dropped = 0

  /**
   * Copies the input as it is now. If the answer is not a promise, the input is not sent, and the answer is the reason.
   */
  const send = (
    path: Operation,
    input: Input,
    ageMs: number,
  ): { request: PostRequest; answer: Answer | Promise<Answer> } => {
    const request = { path, body: '', timeoutMs: settings.timeoutMs, deadline: now() + ageMs, signal, tries: 0 }
    try {
      const plain = toPlain(input)
      // Only the traits of an identify have a time.
      const stamped = path === 'track' ? withKey(withTime(plain)) : plain['traits'] ? withTime(plain) : plain
      request.body = JSON.stringify(stamped)
      const bytes = bytesOf(request.body)
      return { request, answer: refuse(bytes) ?? queue.deliver(request, keysOf(plain), bytes) }
    } catch (error) {
      return { request, answer: failure('invalid_input', reasonOf(error), false) }
    }
  }
  const refuse = (bytes: number): Answer | undefined => {
    if (isClosed) return ENDED
    if (bytes > MAX_BODY_BYTES) return TOO_LARGE
    if (queue.fits(bytes)) return undefined
    dropped++
    return FULL
  }

  const sendOn = (operation: Operation, input: Input): void => {
    const { request, answer } = send(operation, input, settings.maxAgeMs)
    const conclude = ({ status, error }: Answer): void => {
      // Otherwise a call by the listener that is lost at once would be reported to it again, without end.
      if (!error || isReporting) return
      isReporting = true
      const { body, tries: attempts } = request
      const input = body ? (JSON.parse(body) as Input) : undefined
      callListener(onError, { operation, ...error, status, attempts, dropped, input })
      isReporting = false
    }
    if (answer instanceof Promise) return void answer.then(conclude)
    if (concluded === 0) void sleep(0).then(() => (concluded = 0))
    if (concluded++ < MAX_REPORTS_PER_TURN) conclude(answer)
  }

  const sendNow = async (input: EventInput, { deadlineMs }: TrackNowOptions = {}): Promise<DeliveryResult> => {
    const ms = readDeadline(deadlineMs, 30_000)
    const { request, answer } = send('track', input, ms)
    // Until the deadline it may still be waiting for earlier calls about the same person.
    const { status, data, error } = (await within(ms, () => answer)) ?? TIMED_OUT
    return { ...data, ok: !error, status, attempts: request.tries, ...(error && { error }) }
  }

  return {
    track: (input: EventInput): void => sendOn('track', input),
    identify: (input: IdentifyInput): void => sendOn('identify', input),
    trackNow: (input: EventInput, options?: TrackNowOptions) => holdProcess(sendNow(input, options)),
    trackBatch: (events: Iterable<BatchEvent> | AsyncIterable<BatchEvent>, options?: BatchOptions) =>
      holdProcess(trackBatch(connection, events, options)),
    flush: () => holdProcess(queue.settled()),
    async close(deadlineMs?: number): Promise<void> {
      isClosed = true
      await holdProcess(within(readDeadline(deadlineMs, 10_000), queue.settled))
      stop.abort()
      await queue.settled()
    },
  }
}
