/** The words that every file of the door speaks: what it is built of, one call, one route, one reply. */
import type { ErrorCode } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Disk } from '../embedded/read-disks.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Redis } from '../stores/redis.ts'
import type { Submitter } from '../stream/submit.ts'
import type { Readiness } from './health/readiness.ts'
import type { Operation } from './openapi/operation.ts'
import type { Business, KeyHolder } from './access/find-business.ts'
import type { RateLimiter } from './access/rate-limiter.ts'
import type { CachedLookup } from './access/cached-lookup.ts'
import type { ConcurrencyLimit } from './access/concurrency-limit.ts'

/** Built once in main.ts; the first argument of everything here. */
export interface AppContext {
  config: { maxInFlight: number; metricsToken: string | undefined; trustProxy: number }
  log: Logger
  /** Whether one more refusal may have a line in the log. */
  mayLogRejection: () => boolean
  metrics: Metrics
  sql: Sql
  redis: Redis
  clickhouse: ClickHouseClient
  /** Of the engines on this machine. */
  readDisks: () => Promise<Disk[]>
  limiter: RateLimiter
  /** By the sha256 of a key, in hex. */
  keyHolders: CachedLookup<KeyHolder>
  /** By business id. */
  businesses: CachedLookup<Business>
  submitter: Pick<Submitter, 'submit'>
  /** Whether it can do its work now; asking costs nothing. */
  readReadiness: () => Promise<Readiness>
  /** Requests being answered now, and the bytes of their bodies: all, and each caller's. */
  inFlight: { count: number; bytes: number; bytesOf: Map<string, number> }
  /** Of what a business's servers read, and of what they change by a contact's id. */
  slots: { read: ConcurrencyLimit; change: ConcurrencyLimit }
  /** Epoch ms. */
  now: () => number
}

/** One unit taken from the rate limiter; given back when the answer turns out to cost nothing. */
export interface Charge {
  bucket: string
  window: string
  remaining: number
  resetSeconds: number
  /** The policy that the RateLimit headers name; none for callers without a secret key. */
  policy: string | null
}

/** One request on its way through the door. */
export interface RequestContext {
  request: Request
  params: Record<string, string>
  requestId: string
  /** Asked for only where it counts: the server has to look for it. */
  address: () => string
  /** Whose key was sent, or which business a page named; null until it is known to exist. */
  businessId: string | null
  /** The code of the refusal; empty while there is none. */
  rejectionCode: ErrorCode | ''
  /** Epoch ms: "now" for every rule. */
  receivedAt: number
  /** In ms, of a clock that never goes back: what became of the call since is measured by it. */
  startedAt: number
  /** Sent with the answer, whatever it will be. */
  headers: Record<string, string>
  charges: Charge[]
  /** Whose share of the room for bodies it takes: a business by its secret key; all other callers share one. */
  bodyQuotaKey: string
  /** Read so far. */
  bodyBytes: number
  /** Ends its turn among those of its business; undefined when it has none. */
  releaseSlot: (() => void) | undefined
}

/** A success in the envelope. */
export interface Reply {
  status?: 200 | 202
  message: string
  data: object
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** Parameters begin with a colon. */
  path: string
  /** A bare Response leaves the envelope out (metrics, pages, preflights). Refusals are thrown as RequestError. */
  answer: (app: AppContext, context: RequestContext) => Promise<Reply | Response>
  /** Pages of any origin may read the answer, whatever it is. */
  crossOrigin?: true
  /** For the OpenAPI description; null leaves the route out of it. */
  operation: Operation | null
}

/** What every keyed route can answer besides its own codes. */
export const KEYED_ERRORS: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'publishable_key',
  'business_inactive',
  'business_not_found',
  'method_not_allowed',
  'rate_limited',
  'internal',
  'unavailable',
]

/** … when it takes a body … */
export const BODY_ERRORS: readonly ErrorCode[] = [
  ...KEYED_ERRORS,
  'malformed_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
]

/** … and puts it on the road. */
export const WRITE_ERRORS: readonly ErrorCode[] = [...BODY_ERRORS, 'business_mismatch', 'outcome_unknown']
