/** What a client does, over the parts that it is made of. */
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

/** Of one event or one person (the service's limit). */
const MAX_BODY_BYTES = 256 * 1024
const TOO_LARGE = failure('payload_too_large', `Larger than ${MAX_BODY_BYTES} bytes`, false)
const FULL = failure('queue_full', 'The queue is full')

/**
 * How many calls that are lost at once are reported in one turn of the event loop: a listener that calls again for each of them,
 * even after an `await`, would never let it go.
 */
const MAX_REPORTS_PER_TURN = 1_000

type Operation = Lost['operation']
type Input = EventInput | IdentifyInput

/** Throws TypeError when an option is missing or makes no sense. */
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

  /** Takes the input as it is now. An answer that is there at once: it is not sent, and why. */
  const send = (
    path: Operation,
    input: Input,
    ageMs: number,
  ): { request: PostRequest; answer: Answer | Promise<Answer> } => {
    const request = { path, body: '', timeoutMs: settings.timeoutMs, deadline: now() + ageMs, signal, tries: 0 }
    try {
      const plain = toPlain(input)
      // Without traits an identify has nothing that a time is of.
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
      // A call that the listener makes, and that is lost at once, would be reported to it again, and so on without end.
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
    // Until then it may still wait for earlier ones of the same person.
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
