/** Inputs and results. The fields of events and people are those of the HTTP API. */

export type EventType = 'purchase' | 'refund' | 'booking' | 'lead' | 'checkout_started' | 'fulfilled' | 'cancelled'

/** Identifies a person: at least one field. `null` has the same effect as an omitted field. */
export interface Identity {
  email?: string | null
  phone?: string | number | null
  /** Your own user id. */
  platformCustomerId?: string | number | null
}

export type Traits = Record<string, string | number | boolean | null>

/** One event for `track` or `trackNow`. */
export interface EventInput {
  /** 1 to 64 characters, kept unchanged. */
  event: string
  identity: Identity
  /** ISO 8601, epoch milliseconds or a Date. Default in `track` and `trackNow`: the time of the call. */
  occurredAt?: string | number | Date | null
  type?: EventType | null
  value?: number | null
  currency?: string | null
  /** Any JSON of at most 32,768 bytes. */
  properties?: object | null
  tags?: readonly string[] | null
  traits?: Traits | null
  /** Unique per business, forever: a repeat is not recorded again. Default: a generated key. */
  idempotencyKey?: string | null
  businessId?: string | null
  visitorId?: string | null
}

/** One past event for `trackBatch`: every field of an event except `visitorId`. */
export type BatchEvent = Omit<EventInput, 'visitorId'> & { visitorId?: null }

export interface Profile {
  name?: string | null
  firstName?: string | null
  lastName?: string | null
  country?: string | null
  city?: string | null
  language?: string | null
  timezone?: string | null
}

export interface IdentifyInput {
  identity: Identity
  profile?: Profile | null
  traits?: Traits | null
  /** Time from which the traits apply: ISO 8601, epoch milliseconds or a Date. Default: the time of the call. */
  occurredAt?: string | number | Date | null
  /** How the person was identified, in your own words, such as `signup`; at most 64 characters. */
  method?: string | null
  visitorId?: string | null
  businessId?: string | null
}

export interface DeliveryError {
  /**
   * The service's own code (`invalid_request`, `rate_limited`, …), or one of this package: `invalid_input`,
   * `queue_full`, `closed`, `unreachable`, `timed_out`, `unexpected_answer`. `http_502` and similar when the response
   * contains no code.
   */
  code: string
  message: string
  /** Whether the same call with the same `idempotencyKey` may succeed later. */
  retryable: boolean
}

/** The outcome of a `trackNow`. */
export interface DeliveryResult {
  /** Whether the event is recorded, or stored and about to be recorded (`queued`). */
  ok: boolean
  /** HTTP status of the last response; 0 when there was none. */
  status: number
  /** Number of attempts. */
  attempts: number
  contactId?: string
  event?: string
  isNew?: boolean
  deduped?: boolean
  queued?: boolean
  interpreted?: { type: EventType | 'none'; countedRevenue: number }
  warnings?: string[]
  error?: DeliveryError
}

/** A `track` or `identify` that will not be delivered. */
export interface Lost extends DeliveryError {
  operation: 'track' | 'identify'
  status: number
  attempts: number
  /** The input, including its `occurredAt` and an event's `idempotencyKey`; undefined when it could not be read. */
  input: EventInput | IdentifyInput | undefined
  /** Number of calls that this client has lost because its queue was full. */
  dropped: number
}

export interface SluiceOptions {
  /** A secret key. Default: SLUICE_API_KEY. */
  apiKey?: string
  /** Address of the service, such as `https://sluice.example.com`. Default: SLUICE_BASE_URL. */
  baseUrl?: string
  /** Called for each lost call. Errors that it throws are ignored. Default: occasional lines on the console. */
  onError?: (lost: Lost) => unknown
  /** Maximum number of waiting calls, including those in flight. Further calls are dropped. Default: 10,000. */
  maxQueue?: number
  /** Maximum size of waiting calls in bytes of JSON. Default: 32 MiB. */
  maxQueueBytes?: number
  /** Maximum number of requests in flight, not counting `trackBatch`. Default: 8. */
  concurrency?: number
  /** Time limit of one attempt including its response, in milliseconds. Default: 15,000. */
  timeoutMs?: number
  /**
   * Maximum number of attempts per call, not counting those when the service was away or busy (no response, 429, 502,
   * 503, 504). Default: 10.
   */
  maxTries?: number
  /** Time limit of a call over all attempts, in milliseconds. Default: 600,000. */
  maxAgeMs?: number
  /**
   * Upper limit of the first delay before a retry, in milliseconds. It doubles with each further retry. Default: 500.
   */
  minRetryMs?: number
  /** Upper limit of all delays, unless the service asks for a longer one, in milliseconds. Default: 30,000. */
  maxRetryMs?: number
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export interface TrackNowOptions {
  /** Time limit over all attempts, in milliseconds. Default: 30,000. */
  deadlineMs?: number
}

/** `index`: position among the events given to `trackBatch`. */
export interface BatchFailure {
  index: number
  error: string
}

export interface BatchCounts {
  /** Number of finished events, counted from the first. After an early end, send all later events again. */
  settled: number
  recorded: number
  /** Events whose `idempotencyKey` was already known. */
  deduped: number
  /** Stored by a service that is behind, and about to be recorded. */
  queued: number
  failed: number
}

/** Reported in the order of the events. `failures` and `warnings` contain only the new ones. */
export interface BatchProgress extends BatchCounts {
  failures: BatchFailure[]
  warnings: string[]
}

export interface BatchResult extends BatchCounts {
  /** Whether every event is recorded, known or queued: none failed, and the batch did not end early. */
  ok: boolean
  /** The first 10,000. `failed` counts all, and `onProgress` receives all. */
  failures: BatchFailure[]
  /** `item 1204: …`, numbered like the failures; the first 10,000. */
  warnings: string[]
  /** The reason why the batch ended before the last event. */
  error?: DeliveryError & { status: number }
}

/** The reason and duration of a wait before a request of a batch is sent again. */
export interface BatchWait {
  code: string
  message: string
  waitMs: number
}

export interface BatchOptions {
  /** Called after each request. If it returns a promise, no more events are read until that settles. */
  onProgress?: (progress: BatchProgress) => unknown
  onWait?: (wait: BatchWait) => unknown
  /** Maximum number of requests in flight, at most 64. Default: 4. */
  concurrency?: number
  /** Events per request, from 1 to 500. Default: 500. */
  chunkSize?: number
  /** Time limit of one attempt including its response, in milliseconds. Default: 120,000. */
  timeoutMs?: number
  /**
   * Gives up when the service has accepted nothing for this many milliseconds. A rate limit is not a reason to give up.
   * Default: 300,000.
   */
  patienceMs?: number
  /** Whether to resend `queued` events until their outcome is known. */
  awaitOutcome?: boolean
  /** Ends the batch early. */
  signal?: AbortSignal
}
