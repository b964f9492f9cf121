/** The types that every file of the front door uses: the app, one request, one route, one reply. */
import type { SystemMailer } from '../accounts/system-mail.ts'
import type { Backtests } from '../campaigns/backtest/backtests.ts'
import type { RenderService } from '../messages/templates/renderer.ts'
import type { Config } from '../config.ts'
import type { ErrorCode, RequestError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Disk } from '../embedded/read-disks.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Redis } from '../stores/redis.ts'
import type { Submitter } from '../stream/submit.ts'
import type { StatementRunner } from '../timeline/statement-runner.ts'
import type { MeasuredStore } from './health/measured-store.ts'
import type { Readiness } from './health/readiness.ts'
import type { Operation } from './openapi/operation.ts'
import type { Business, KeyHolder } from './access/find-business.ts'
import type { VisitHold } from './routes/tracking/hold-visits.ts'
import type { RateLimiter } from './access/rate-limiter.ts'
import type { CachedLookup } from './access/cached-lookup.ts'
import type { ConcurrencyLimit } from './access/concurrency-limit.ts'
import type { Verifier } from './verify/run-verify.ts'

/** Built once in run-front-door.ts; the first argument of every handler. */
export interface AppContext {
  config: Pick<
    Config,
    'maxInFlight' | 'metricsToken' | 'trustProxy' | 'publicUrl' | 'port' | 'secretsKey' | 'messageKeepMs'
  >
  log: Logger
  /** Whether another rejection may be logged. */
  mayLogRejection: () => boolean
  metrics: Metrics
  sql: Sql
  /** For short look-ups that must not wait behind slow reads. */
  quick: Sql
  redis: Redis
  clickhouse: ClickHouseClient
  /** Statements of the SQL page. */
  runStatement: StatementRunner
  /** The disks of the engines on this machine. */
  readDisks: () => Promise<Disk[]>
  /** Whether and how the stores answer. */
  measureStores: () => Promise<MeasuredStore[]>
  limiter: RateLimiter
  /** By the sha256 of a key, in hex. */
  keyHolders: CachedLookup<KeyHolder>
  /** By business id. */
  businesses: CachedLookup<Business>
  submitter: Pick<Submitter, 'submit'>
  /** Whether the front door can do its work now. The result is cached: calling this is cheap. */
  readReadiness: () => Promise<Readiness>
  /** Requests being answered now, and the bytes of their bodies: in total and by `bodyQuotaKey`. */
  inFlight: { count: number; bytes: number; bytesOf: Map<string, number> }
  /** Limits per business: reads with a key, calls of the dashboard and the costly ones of them, test messages, changes by contact id, the page of links in messages, and callbacks of providers. */
  slots: Record<'read' | 'dashboard' | 'costly' | 'change' | 'test' | 'page' | 'callback', ConcurrencyLimit>
  /** Keeps the last requests of each business for its people. */
  recorder: { record(route: string, context: RequestContext, status: number, ms: number): void }
  /** Undefined when the installation cannot send mail. */
  mailer: SystemMailer | undefined
  /** Where test messages, and tests of destinations, may not go. */
  guard: TargetGuard
  /** Opened messages and links. */
  visits: Pick<VisitHold, 'note'>
  /** Of templates. */
  renderer: RenderService
  /** Compares the stores. */
  verifier: Pick<Verifier, 'start'>
  /** Those of campaigns. */
  backtests: Backtests
  /** Epoch ms. */
  now: () => number
}

/** One unit taken from the rate limiter. It is refunded when the answer is free of charge. */
export interface Charge {
  bucket: string
  window: string
  remaining: number
  resetSeconds: number
  /** The policy in the RateLimit headers; null for callers without a secret key. */
  policy: string | null
}

/** One request that is being answered. */
export interface RequestContext {
  request: Request
  params: Record<string, string>
  requestId: string
  /** A function, since the server has to look the address up. */
  address: () => string
  /** The business of the key, or the one that a page named; null until it is known to exist. */
  businessId: string | null
  /** The last characters of the key, once it is known to be valid. */
  keyHint: string | null
  /** The parsed body, once it has arrived. */
  body: unknown
  /** What the handler returned. */
  reply: Reply | null
  /** Why it was refused. */
  rejection: RequestError | null
  /** The error code of the answer; empty for a success. */
  rejectionCode: ErrorCode | ''
  /** Epoch ms: "now" for every rule. */
  receivedAt: number
  /** In ms, by a monotonic clock; durations are measured from it. */
  startedAt: number
  /** Sent with every answer, success or error. */
  headers: Record<string, string>
  charges: Charge[]
  /** Whose share of the body memory it uses: the business of a secret key; all other callers share one. */
  bodyQuotaKey: string
  /** Bytes of the body reserved so far. */
  bodyBytes: number
  /** Releases the concurrency slots of its business; undefined when it holds none. */
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
  /** Return a Response to leave the envelope out (metrics, pages, preflights). Throw a RequestError to reject. */
  answer: (app: AppContext, context: RequestContext) => Promise<Reply | Response>
  /** An answer may take as long as a statement of the SQL page. */
  isSlow?: true
  /** Pages of any origin may read every answer, errors included. */
  crossOrigin?: true
  /** Its answers are large, and may be compressed: see http/compress-answer.ts. */
  isCompressed?: true
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

/** … and writes it to a stream. */
export const WRITE_ERRORS: readonly ErrorCode[] = [...BODY_ERRORS, 'business_mismatch', 'outcome_unknown']
