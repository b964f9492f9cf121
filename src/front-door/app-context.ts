/** Types that every file of the front door uses: the app, one request, one route, one reply. */
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
import type { Submitter } from '../stream/publish/submit.ts'
import type { StatementRunner } from '../analytics/sql-page/statement-runner.ts'
import type { MeasuredStore } from './health/measured-store.ts'
import type { StoreWatch } from './health/watch-stores.ts'
import type { Readiness } from './health/readiness.ts'
import type { Operation } from './openapi/operation.ts'
import type { Business, KeyHolder } from '../businesses/find-business.ts'
import type { VisitBuffer } from './routes/tracking/buffer-visits.ts'
import type { CallBacklog } from '../calls/backlog.ts'
import type { SettledCalls } from '../calls/settled-calls.ts'
import type { Sender } from '../stores/wake-ups.ts'
import type { AddressLimit } from './access/address-limit.ts'
import type { RateLimiter } from './access/rate-limiter.ts'
import type { CachedLookup } from './access/cached-lookup.ts'
import type { ConcurrencyLimit } from './access/concurrency-limit.ts'
import type { Verifier } from '../verify-runs/run-verify.ts'

/** Shared by all routes: built once in run-front-door.ts, and the first argument of every handler. */
export interface AppContext {
  config: Pick<
    Config,
    'maxInFlight' | 'metricsToken' | 'trustProxy' | 'publicUrl' | 'port' | 'secretsKey' | 'messageKeepMs'
  >
  log: Logger
  /** Returns whether another rejection may be logged. */
  mayLogRejection: () => boolean
  metrics: Metrics
  sql: Sql
  /** Separate connections for short lookups that must not wait behind slow reads. */
  quick: Sql
  redis: Redis
  clickhouse: ClickHouseClient
  /** Runs statements of the SQL page. */
  runStatement: StatementRunner
  /** Returns the disks of the stores that run on this machine. */
  readDisks: () => Promise<Disk[]>
  /** Returns whether each store answers, its latency and its size. */
  measureStores: () => Promise<MeasuredStore[]>
  /** Knows which stores answer too late. */
  storeWatch: Pick<StoreWatch, 'late' | 'lateSince'>
  limiter: RateLimiter
  /** Limits the messages of send calls to one address. */
  addressLimit: AddressLimit
  /** The messages of send calls that wait. */
  callBacklog: CallBacklog
  settledCalls: SettledCalls
  /** Wakes a loop of the workers. */
  wake: (sender: Sender) => void
  /** Finds the holder of a key by the sha256 of the key, in hex. */
  keyHolders: CachedLookup<KeyHolder>
  /** Finds a business by its id. */
  businesses: CachedLookup<Business>
  submitter: Pick<Submitter, 'submit' | 'isOpen'>
  /** Returns whether the front door can do its work now. The result is cached, so calls are cheap. */
  readReadiness: () => Promise<Readiness>
  /** Whether this front door is about to close: it still answers, but load balancers should send no more. */
  draining: { begun: boolean }
  /** Requests in flight, and the bytes of their bodies: in total and by `bodyQuotaKey`. */
  inFlight: { count: number; bytes: number; bytesOf: Map<string, number> }
  /**
   * Limits of concurrent calls per business. `read`: reads with a key. `dashboard`: calls of the dashboard. `costly`:
   * costly reads. `statement`: statements of the SQL page. `test`: test messages. `change`: changes by contact id. `page`: the page of links in messages.
   * `callback`: callbacks of providers.
   */
  slots: Record<
    'read' | 'dashboard' | 'costly' | 'statement' | 'change' | 'test' | 'page' | 'callback',
    ConcurrencyLimit
  >
  /** Keeps the latest requests of each business, for its users. */
  recorder: { record(route: string, context: RequestContext, status: number, ms: number): void }
  /** Undefined when the installation cannot send mail. */
  mailer: SystemMailer | undefined
  /** Decides where test messages, and tests of destinations, may not be sent. */
  guard: TargetGuard
  /** Records opened messages and followed links. */
  visits: Pick<VisitBuffer, 'note'>
  /** Renders templates. */
  renderer: RenderService
  /** Compares the stores. */
  verifier: Pick<Verifier, 'start'>
  /** Backtests of campaigns. */
  backtests: Backtests
  /** Returns the current time in epoch ms. */
  now: () => number
}

/** One unit taken from the rate limiter. It is refunded when the answer is not charged. */
export interface Charge {
  bucket: string
  window: string
  remaining: number
  resetSeconds: number
  /** Name of the policy in the RateLimit headers; null for callers without a secret key. */
  policy: string | null
}

/** One request that is being answered. */
export interface RequestContext {
  request: Request
  params: Record<string, string>
  requestId: string
  /** Returns the address of the client. A function, since the server has to look the address up. */
  address: () => string
  /** The business of the key, or the one that a page named; null until it is known to exist. */
  businessId: string | null
  /** The last characters of the key, once it is known to be valid. */
  keyHint: string | null
  /** The parsed body, once it has arrived. */
  body: unknown
  /** The success that the handler returned; null for errors and for other responses. */
  reply: Reply | null
  /** Why the request was rejected; null for a success. */
  rejection: RequestError | null
  /** The error code of the answer; empty for a success. */
  rejectionCode: ErrorCode | ''
  /** Time of receipt in epoch ms: "now" for every rule. */
  receivedAt: number
  /** Start in ms of a monotonic clock, for measuring durations. */
  startedAt: number
  /** Sent with every answer, success or error. */
  headers: Record<string, string>
  charges: Charge[]
  /**
   * The owner of the body memory that it uses: the business of a secret key or of a signed-in person. All other callers
   * share one.
   */
  bodyQuotaKey: string
  /** Bytes of the body reserved so far. */
  bodyBytes: number
  /** Releases the concurrency slots that the request holds; undefined when it holds none. */
  releaseSlot: (() => void) | undefined
}

/** A successful answer in the envelope. */
export interface Reply {
  status?: 200 | 202
  message: string
  data: object
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  /** Parameters begin with a colon. */
  path: string
  /** Returns a Response to leave the envelope out (metrics, pages, preflights). Throws a RequestError to reject. */
  answer: (app: AppContext, context: RequestContext) => Promise<Reply | Response>
  /** The answer may take as long as a statement of the SQL page. */
  isSlow?: true
  /** Load balancers ask it: it also answers requests without a Host. */
  isProbe?: true
  /** Pages of any origin may read all answers, errors included. */
  crossOrigin?: true
  /** Answers are large and may be compressed: see http/compress-answer.ts. */
  isCompressed?: true
  /** OpenAPI description of the route; null leaves the route out of the document. */
  operation: Operation | null
}

/** Error codes that every keyed route can return, besides its own. */
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

/** The same for keyed routes that take a body. */
export const BODY_ERRORS: readonly ErrorCode[] = [
  ...KEYED_ERRORS,
  'malformed_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
]

/** The same for keyed routes that write their body to a stream. */
export const WRITE_ERRORS: readonly ErrorCode[] = [...BODY_ERRORS, 'business_mismatch', 'outcome_unknown']
