/** What callers give and what they get. The fields of an event and of a person are those of the HTTP interface. */

export type EventType = 'purchase' | 'refund' | 'booking' | 'lead' | 'checkout_started' | 'fulfilled' | 'cancelled'

/** Who it is about: at least one field. A `null` is as if it had not been sent. */
export interface Identity {
  email?: string | null
  phone?: string | number | null
  /** Your own user id. */
  platformCustomerId?: string | number | null
}

export type Traits = Record<string, string | number | boolean | null>

/** One event, as `track` and `trackNow` take it. */
export interface EventInput {
  /** 1 to 64 characters, kept exactly as sent. */
  event: string
  identity: Identity
  /** ISO 8601, epoch milliseconds or a Date. Of `track` and `trackNow`: the moment of the call when left out. */
  occurredAt?: string | number | Date | null
  type?: EventType | null
  value?: number | null
  currency?: string | null
  /** Any JSON detail, at most 32,768 bytes of it. */
  properties?: object | null
  tags?: readonly string[] | null
  traits?: Traits | null
  /** Unique per business, for ever: a repeat is not recorded again. One is made when it is left out. */
  idempotencyKey?: string | null
  businessId?: string | null
  visitorId?: string | null
}

/** One past event, as `trackBatch` takes it: every field of an event but `visitorId`. */
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
  /** Since when the traits hold: ISO 8601, epoch milliseconds or a Date; the moment of the call when left out. */
  occurredAt?: string | number | Date | null
  /** How the person was identified, in your words, such as `signup`; at most 64 characters. */
  method?: string | null
  visitorId?: string | null
  businessId?: string | null
}

export interface DeliveryError {
  /**
   * The service's own (`invalid_request`, `rate_limited`, …), or one of this package's: `invalid_input`, `queue_full`, `closed`,
   * `unreachable`, `timed_out`, `unexpected_answer`; `http_502` and such when the answer names none.
   */
  code: string
  message: string
  /** True: the same call, with the same `idempotencyKey`, may succeed later. */
  retryable: boolean
}

/** What became of a `trackNow`. */
export interface DeliveryResult {
  /** The event is recorded, or kept and about to be (`queued`). */
  ok: boolean
  /** HTTP status of the last answer; 0 when there was none. */
  status: number
  /** How often it was sent. */
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

/** A `track` or `identify` that will not arrive any more. */
export interface Lost extends DeliveryError {
  operation: 'track' | 'identify'
  status: number
  attempts: number
  /** What was to be sent, its `occurredAt` and an event's `idempotencyKey` included; undefined when it could not be read. */
  input: EventInput | IdentifyInput | undefined
  /** How many calls this client has lost to a full queue. */
  dropped: number
}

export interface SluiceOptions {
  /** A secret key; else SLUICE_API_KEY. */
  apiKey?: string
  /** Where the service is, such as `https://sluice.example.com`; else SLUICE_BASE_URL. */
  baseUrl?: string
  /** Called for each call that is lost; what it throws is ignored. Without it, the console shows a line now and then. */
  onError?: (lost: Lost) => unknown
  /** How many calls wait at most, those being sent included (10,000). Past it new ones are dropped. */
  maxQueue?: number
  /** How many bytes of JSON wait at most (32 MiB). */
  maxQueueBytes?: number
  /** Requests in flight, `trackBatch` apart (8). */
  concurrency?: number
  /** How long one try may take, its answer included, in ms (15,000). */
  timeoutMs?: number
  /** How often a call is sent at most (10), not counting how often the service was away or busy (no answer, 429, 502, 503, 504). */
  maxTries?: number
  /** How long a call may take from beginning to end, in ms (600,000). */
  maxAgeMs?: number
  /** The first wait before a call is sent again is up to so long, in ms (500); the next ones are up to twice the one before. */
  minRetryMs?: number
  /** No wait is longer, unless the service asks for it, in ms (30,000). */
  maxRetryMs?: number
  /** Sends the requests; else the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export interface TrackNowOptions {
  /** How long it may take from beginning to end, in ms (30,000). */
  deadlineMs?: number
}

/** `index` is the position among the events given to `trackBatch`. */
export interface BatchFailure {
  index: number
  error: string
}

export interface BatchCounts {
  /** How many events, counted from the first, are finished; after an early end, send the following ones again. */
  settled: number
  recorded: number
  /** Their `idempotencyKey` was known. */
  deduped: number
  /** Kept by a service that is behind, about to be recorded. */
  queued: number
  failed: number
}

/** Reported in the order of the events. `failures` and `warnings` are the new ones. */
export interface BatchProgress extends BatchCounts {
  failures: BatchFailure[]
  warnings: string[]
}

export interface BatchResult extends BatchCounts {
  /** Every event is recorded, known or queued: none failed, and it did not end early. */
  ok: boolean
  /** The first 10,000; `failed` counts all, and `onProgress` sees all. */
  failures: BatchFailure[]
  /** `item 1204: …`, numbered like the failures; the first 10,000. */
  warnings: string[]
  /** Why it ended before the last event. */
  error?: DeliveryError & { status: number }
}

/** Why a request of a batch waits, and for how long. */
export interface BatchWait {
  code: string
  message: string
  waitMs: number
}

export interface BatchOptions {
  /** Called after each request; a promise that it returns is awaited, and no more events are read meanwhile. */
  onProgress?: (progress: BatchProgress) => unknown
  onWait?: (wait: BatchWait) => unknown
  /** Requests in flight (4); more than 64 are taken as 64. */
  concurrency?: number
  /** Events in a request, 1 to 500 (500). */
  chunkSize?: number
  /** How long one try may take, its answer included, in ms (120,000). */
  timeoutMs?: number
  /** Gives up when the service has taken nothing for this long, in ms (300,000). A rate limit is not a reason to give up. */
  patienceMs?: number
  /** True: what is `queued` is sent again until its outcome is known. */
  awaitOutcome?: boolean
  /** Ends it early. */
  signal?: AbortSignal
}
