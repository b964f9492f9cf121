/** The only reader of the environment: one schema, with all errors reported together. */
import { resolve } from 'node:path'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** More partitions would only add idle connections. */
export const MAX_PARTITIONS = 256
/** A worker that restarts under another name waits until the lease of the former name expires. */
export const MAX_LEASE_MS = 600_000
const MAX_DRAIN_MS = 300_000

const whole = (minimum: number, maximum: number, fallback: number) =>
  Type.Number({
    minimum,
    maximum,
    multipleOf: 1,
    default: fallback,
    expected: `a whole number from ${minimum} to ${maximum}`,
  })
const duration = (fallback: string) =>
  Type.String({
    // More than a hundred years, and still a date that Postgres can store.
    pattern: '^(\\d{1,9}(ms|s)|\\d{1,6}(m|h)|\\d{1,5}d)$',
    default: fallback,
    expected: 'a duration such as 90m, 12h or 7d, up to 99999d',
  })
/** A URL may contain a password. */
const url = (...schemes: string[]) =>
  Type.Optional(
    Type.String({
      isSecret: true,
      pattern: `^(${schemes.join('|')})://.`,
      expected: `a URL that begins with ${schemes.join(':// or ')}://, its password percent-encoded`,
    }),
  )

/** In the working directory. */
export const DEFAULT_DATA_DIR = '.sluice'
export const SECRETS_KEY_PATTERN = /^[\da-fA-F]{64}$/

const Environment = Type.Object({
  PORT: whole(0, 65_535, 8080),
  HOST: Type.String({ default: '0.0.0.0' }),
  DATA_DIR: Type.String({ default: DEFAULT_DATA_DIR }),
  DATABASE_URL: url('postgres', 'postgresql'),
  REDIS_URL: url('redis', 'rediss'),
  CLICKHOUSE_URL: url('http', 'https'),
  WORKER_THREADS: whole(1, 256, 1),
  STREAM_PARTITIONS: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: MAX_PARTITIONS,
      multipleOf: 1,
      expected: `a whole number from 1 to ${MAX_PARTITIONS}`,
    }),
  ),
  ANSWER_TIMEOUT_MS: whole(1, 600_000, 10_000),
  DRAIN_MS: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: MAX_DRAIN_MS,
      multipleOf: 1,
      expected: `a whole number from 0 to ${MAX_DRAIN_MS}`,
    }),
  ),
  RATE_LIMIT_TIMEOUT_MS: whole(1, 5000, 50),
  BACKLOG_LIMIT_BYTES: whole(1, Number.MAX_SAFE_INTEGER, 268_435_456),
  STREAM_KEEP: Type.String({
    pattern: '^(0|\\d{1,7}ms|\\d{1,4}s|\\d{1,2}m|1h)$',
    default: '60s',
    expected: 'a duration such as 60s or 10m, up to 1h, or 0',
  }),
  MAX_IN_FLIGHT: whole(1, 1_000_000, 10_000),
  ALLOW_VOLATILE_REDIS: Type.Boolean({ default: false, expected: 'true or false' }),
  LEASE_MS: whole(100, MAX_LEASE_MS, 3000),
  WORKER_NAME: Type.Optional(
    Type.String({ pattern: '^[\\w.-]{1,100}$', expected: '1 to 100 letters, digits, _, . and -' }),
  ),
  OUTBOX_KEEP: duration('7d'),
  SECRETS_KEY: Type.Optional(
    Type.String({
      isSecret: true,
      pattern: SECRETS_KEY_PATTERN.source,
      expected: '64 hexadecimal digits, as `openssl rand -hex 32` gives',
    }),
  ),
  ALLOW_LOOPBACK_TARGETS: Type.Optional(
    Type.Union([Type.Boolean(), Type.Literal('alone')], { expected: 'true, false or alone' }),
  ),
  DELIVERY_TRIES: whole(1, 1000, 10),
  DELIVERIES_KEEP: duration('30d'),
  MESSAGE_KEEP: duration('90d'),
  ANONYMOUS_KEEP: duration('90d'),
  WEB_EVENTS_KEEP: Type.String({
    pattern: '^[1-9]\\d{0,3}d$',
    default: '400d',
    expected: 'a number of days such as 400d, from 1d to 9999d',
  }),
  TRUST_PROXY: Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: 16 })], {
    default: false,
    expected: 'true, false or the number of proxies in a row, up to 16',
  }),
  REUSE_PORT: Type.Boolean({ default: false, expected: 'true or false' }),
  METRICS_TOKEN: Type.Optional(Type.String({ isSecret: true })),
  PUBLIC_URL: url('http', 'https'),
  SYSTEM_SMTP_URL: url('smtp', 'smtps'),
  SYSTEM_MAIL_FROM: Type.Optional(
    Type.String({ pattern: '@', maxLength: 320, expected: 'an address such as "Sluice <no-reply@example.com>"' }),
  ),
  ANALYST_PASSWORD: Type.Optional(
    Type.String({ isSecret: true, minLength: 8, maxLength: 128, expected: '8 to 128 characters' }),
  ),
  LOG_LEVEL: Type.Union(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info', expected: 'trace, debug, info, warn, error, fatal or silent' },
  ),
  SLUICE_API_KEY: Type.Optional(Type.String({ isSecret: true })),
  WORKERS_PORT: Type.Optional(
    Type.Number({ minimum: 0, maximum: 65_535, multipleOf: 1, expected: 'a whole number from 0 to 65535' }),
  ),
})

/** Names of all environment variables of Sluice. */
export const VARIABLES: readonly string[] = Object.keys(Environment.properties)

const schemaOf = (name: string): TSchema | undefined => (Environment.properties as Record<string, TSchema>)[name]

/** The value as messages show it. */
export const showSetting = (name: string, value: string | undefined): string =>
  value === undefined || schemaOf(name)?.['isSecret'] === true ? '…' : value

export interface Config {
  port: number
  host: string
  /** Absolute path. */
  dataDir: string
  databaseUrl: string | undefined
  redisUrl: string | undefined
  clickhouseUrl: string | undefined
  workerThreads: number
  /** Default: the number stored in Postgres; 2 for an empty database. */
  streamPartitions: number | undefined
  answerTimeoutMs: number
  /** Milliseconds that a request waits for Redis to count it. After that it is accepted uncounted. */
  rateLimitTimeoutMs: number
  /** Maximum size of waiting requests per partition. */
  backlogLimitBytes: number
  /** How long applied entries stay in Redis, for a failover of Postgres that loses their commits. */
  streamKeepMs: number
  maxInFlight: number
  /** Whether to accept a Redis that can lose acknowledged writes. */
  allowVolatileRedis: boolean
  leaseMs: number
  /** A unique name for a workers process. After a restart with the same name it gets its partitions back at once. */
  workerName: string | undefined
  outboxKeepMs: number
  /** 32 bytes in hex. Encrypts the secrets of destinations, channels and second factors. */
  secretsKey: string | undefined
  /** Milliseconds for which a front door goes on accepting after the signal to stop. Default: 5 s; 0 under `start`. */
  drainMs: number | undefined
  /**
   * Whether destinations and channels may be on this machine. `alone`, the default under `start`: while there is only
   * one business besides that of the demo. Default elsewhere: no.
   */
  allowLoopbackTargets: boolean | 'alone' | undefined
  /** Number of attempts before a delivery is abandoned. */
  deliveryTries: number
  /** Retention of sent and abandoned deliveries. */
  deliveriesKeepMs: number
  /** Retention of the data from which campaign messages were rendered. */
  messageKeepMs: number
  /** Retention of unidentified visitors and their events. */
  anonymousKeepMs: number
  webEventsKeepDays: number
  /** Number of trusted proxies in a row. The outermost one reports the caller's address. */
  trustProxy: number
  /** Whether several front doors on this machine share the port (Linux, on Bun and Node). */
  reusePort: boolean
  metricsToken: string | undefined
  /** Public address of the dashboard, with which links in emails begin. */
  publicUrl: string | undefined
  /** SMTP server for the emails of the installation: invitations and password resets. */
  systemSmtpUrl: string | undefined
  systemMailFrom: string | undefined
  /** Password of the read-only user that `migrate` creates in your own ClickHouse. */
  analystPassword: string | undefined
  logLevel: string
  workerMetricsPort: number | undefined
  /** The secret key of `admin import`. */
  apiKey: string | undefined
}

/** The environment (or a file in DATA_DIR) is invalid; the message lists every error. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads the settings. An empty variable counts as missing. Throws ConfigError. */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const read = checkEnvironment(env)
  return Object.freeze({
    port: read.PORT,
    host: read.HOST,
    dataDir: resolve(read.DATA_DIR),
    databaseUrl: read.DATABASE_URL,
    redisUrl: read.REDIS_URL,
    clickhouseUrl: read.CLICKHOUSE_URL,
    workerThreads: read.WORKER_THREADS,
    streamPartitions: read.STREAM_PARTITIONS,
    answerTimeoutMs: read.ANSWER_TIMEOUT_MS,
    rateLimitTimeoutMs: read.RATE_LIMIT_TIMEOUT_MS,
    backlogLimitBytes: read.BACKLOG_LIMIT_BYTES,
    streamKeepMs: Math.min(milliseconds(read.STREAM_KEEP), UNITS['h'] ?? 0),
    maxInFlight: read.MAX_IN_FLIGHT,
    allowVolatileRedis: read.ALLOW_VOLATILE_REDIS,
    leaseMs: read.LEASE_MS,
    workerName: read.WORKER_NAME,
    outboxKeepMs: milliseconds(read.OUTBOX_KEEP),
    secretsKey: read.SECRETS_KEY,
    allowLoopbackTargets: read.ALLOW_LOOPBACK_TARGETS,
    drainMs: read.DRAIN_MS,
    deliveryTries: read.DELIVERY_TRIES,
    deliveriesKeepMs: milliseconds(read.DELIVERIES_KEEP),
    messageKeepMs: milliseconds(read.MESSAGE_KEEP),
    anonymousKeepMs: milliseconds(read.ANONYMOUS_KEEP),
    webEventsKeepDays: Number.parseInt(read.WEB_EVENTS_KEEP, 10),
    trustProxy: Number(read.TRUST_PROXY),
    reusePort: read.REUSE_PORT,
    metricsToken: read.METRICS_TOKEN,
    publicUrl: read.PUBLIC_URL,
    systemSmtpUrl: read.SYSTEM_SMTP_URL,
    systemMailFrom: read.SYSTEM_MAIL_FROM,
    analystPassword: read.ANALYST_PASSWORD,
    logLevel: read.LOG_LEVEL,
    workerMetricsPort: read.WORKERS_PORT,
    apiKey: read.SLUICE_API_KEY,
  })
}

function checkEnvironment(env: Record<string, string | undefined>): Static<typeof Environment> {
  const named = VARIABLES.map((name) => [name, env[name]?.trim()] as const)
  const given = Object.fromEntries(named.filter(([, text]) => text !== undefined && text !== ''))
  const candidate = Value.Default(Environment, Value.Convert(Environment, { ...given }))
  const unreadable = Object.keys(given).filter(
    (name) => name.endsWith('_URL') && !isReadableUrl(name, given[name] ?? ''),
  )
  if (unreadable.length === 0 && Value.Check(Environment, candidate)) return candidate
  const broken = [...Value.Errors(Environment, candidate)].map((fault) => fault.path.split('/')[1] ?? '')
  const names = new Set([...broken, ...unreadable])
  throw new ConfigError([...names].map((name) => describeFault(name, given[name])).join('\n'))
}

/**
 * Checked here because some runtimes and drivers print an unparseable URL with its password. Postgres URLs may list
 * hosts.
 */
function isReadableUrl(name: string, text: string): boolean {
  const firstHostOnly = text.replace(/,[^/?#@]*(?=[/?#]|$)/, '')
  try {
    return decodeURIComponent(text) !== '' && URL.canParse(name === 'DATABASE_URL' ? firstHostOnly : text)
  } catch {
    return false
  }
}

function describeFault(name: string, given: string | undefined): string {
  return `${name} must be ${schemaOf(name)?.['expected'] ?? 'text'}, not "${showSetting(name, given)}"`
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function milliseconds(duration: string): number {
  const [, count, unit] = /^(\d+)(\w*)$/.exec(duration) ?? []
  return Number(count) * (UNITS[unit || 'ms'] ?? 1)
}
