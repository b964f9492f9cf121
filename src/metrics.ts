/** All metrics of all processes, each declared once. They use base units, and no ids in labels. */
import process from 'node:process'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { TIME_ZONES_VERSION } from './rules/time/zones.ts'
import { VERSION } from './version.ts'

const LATENCY_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const BATCH_EVENTS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000]

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    build: buildInfo(registers),
    memory: residentMemory(registers),
    ...frontDoorMetrics(registers),
    ...streamMetrics(registers),
    ...deliveryMetrics(registers),
  }
}

function buildInfo(registers: Registry[]) {
  const gauge = new Gauge({
    name: 'build_info',
    help: 'Always 1; the labels say which version of Sluice this process runs, and by which rules of time zones.',
    labelNames: ['version', 'time_zones'],
    registers,
    // All threads of a workers process have the same version.
    aggregator: 'first',
  })
  gauge.set({ version: VERSION, time_zones: TIME_ZONES_VERSION }, 1)
  return gauge
}

function residentMemory(registers: Registry[]) {
  return new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of this process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
}

function frontDoorMetrics(registers: Registry[]) {
  const name = 'http_request_duration_seconds'
  const labelNames = ['route', 'method', 'status'] as const
  const requestSeconds = new Histogram({
    name,
    help: 'Time from the arrival of a request to its answer.',
    labelNames,
    buckets: LATENCY_SECONDS,
    registers,
  })
  return {
    requestSeconds,
    requests: countRequests(registers, requestSeconds),
    inFlight: new Gauge({ name: 'http_requests_in_flight', help: 'Requests being answered now.', registers }),
    answers: countAnswers(registers),
    storeUp: new Gauge({
      name: 'store_up',
      help: '1 when postgres, redis or clickhouse answered this front door at the last scrape, else 0.',
      labelNames: ['store'],
      registers,
    }),
    storeLateSeconds: new Gauge({
      name: 'store_late_seconds',
      help: 'For how long postgres, redis or clickhouse has answered this front door too late; 0 when it answers in time.',
      labelNames: ['store'],
      registers,
    }),
    storeDiskFree: new Gauge({
      name: 'store_disk_free_bytes',
      help: 'Free space on the disk of a store that `start` runs in DATA_DIR.',
      labelNames: ['store'],
      registers,
    }),
    redisDurable: new Gauge({
      name: 'redis_durable',
      help: '1 when Redis keeps every acknowledged write; 0 when appendonly is off, appendfsync is not always, or the settings are unknown.',
      registers,
    }),
    redisPersistence: new Gauge({
      name: 'redis_persistence_ok',
      help: '1 when the last attempt of Redis succeeded, else 0, by part: aof_write, aof_rewrite, rdb_save.',
      labelNames: ['part'],
      registers,
    }),
    bots: new Counter({
      name: 'browser_bots_total',
      help: 'Requests to the browser endpoints that were dropped because a bot sent them.',
      labelNames: ['route'],
      registers,
    }),
    requestsDropped: new Counter({
      name: 'kept_requests_dropped_total',
      help: 'Requests that the dashboard does not show, because Redis did not accept them.',
      registers,
    }),
    rateLimiterErrors: new Counter({
      name: 'rate_limiter_errors_total',
      help: 'Requests let through because the rate limiter could not be reached.',
      registers,
    }),
  }
}

interface Refused {
  route: string
  method: string
  status: number
  /** An error code. */
  code: string
}

/** The histogram counts successes. Only errors have a second counter, by code, so that it adds no cost to a success. */
function countRequests(registers: Registry[], timed: Histogram<'route' | 'method' | 'status'>) {
  const refusals = new Map<string, { labels: Refused; count: number }>()
  const counter = new Counter({
    name: 'http_requests_total',
    help: 'Answered requests; code is the error code, empty for a success.',
    labelNames: ['route', 'method', 'status', 'code'],
    registers,
    async collect() {
      const { values } = await timed.get()
      this.reset()
      for (const { metricName, labels, value } of values) {
        const isCount = metricName === 'http_request_duration_seconds_count'
        if (isCount && Number(labels.status) < 400) this.inc({ ...labels, code: '' }, value)
      }
      for (const { labels, count } of refusals.values()) this.inc({ ...labels }, count)
    },
  })
  return {
    counter,
    countRefusal(labels: Refused) {
      const key = `${labels.method} ${labels.route} ${labels.code}`
      const refused = refusals.get(key) ?? { labels, count: 0 }
      refused.count += 1
      refusals.set(key, refused)
    },
  }
}

/**
 * Counted here and copied at each scrape, because finding a counter by its labels in prom-client costs more than
 * counting.
 */
function countAnswers(registers: Registry[]) {
  const counts = new Map<string, Map<string, number>>()
  const counter = new Counter({
    name: 'answers_total',
    help: 'Submissions by outcome: answered, queued, unavailable, outcome_unknown.',
    labelNames: ['kind', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [kind, outcomes] of counts) for (const [outcome, count] of outcomes) this.inc({ kind, outcome }, count)
    },
  })
  return {
    counter,
    inc({ kind, outcome }: { kind: string; outcome: string }) {
      const outcomes = counts.get(kind) ?? new Map<string, number>()
      counts.set(kind, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1))
    },
  }
}

/** Metrics of the stream, the workers and the outbox. */
function streamMetrics(registers: Registry[]) {
  return {
    backlogBytes: new Gauge({
      name: 'stream_backlog_bytes',
      help: 'Bytes of requests in a partition, including those applied in the last 50 ms.',
      labelNames: ['partition'],
      registers,
    }),
    keptBytes: new Gauge({
      name: 'stream_kept_bytes',
      help: 'Bytes of applied requests that a partition keeps for STREAM_KEEP.',
      labelNames: ['partition'],
      registers,
    }),
    backlogAgeSeconds: new Gauge({
      name: 'stream_backlog_age_seconds',
      help: 'Age of the oldest entry in a partition that is not applied; 0 when there is none.',
      labelNames: ['partition'],
      registers,
    }),
    stalledSeconds: new Gauge({
      name: 'stream_stalled_seconds',
      help: 'How long a partition has had work without progress, once that is 30 seconds; else 0.',
      labelNames: ['partition'],
      registers,
    }),
    batchEvents: new Histogram({
      name: 'micro_batch_events',
      help: 'Events in one micro-batch.',
      labelNames: ['partition'],
      buckets: BATCH_EVENTS,
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'micro_batch_duration_seconds',
      help: 'Time from the read of a micro-batch to its commit.',
      labelNames: ['partition'],
      buckets: LATENCY_SECONDS,
      registers,
    }),
    saves: new Counter({
      name: 'saves_total',
      help: 'Attempts to save a micro-batch, by outcome: applied, or conflict (decided again).',
      labelNames: ['outcome'],
      registers,
    }),
    outboxRows: new Gauge({ name: 'outbox_rows', help: 'Saves that are not in ClickHouse yet.', registers }),
    outboxLagSeconds: new Gauge({
      name: 'outbox_lag_seconds',
      help: 'Age of the oldest save that is not in ClickHouse yet; 0 when there is none.',
      registers,
    }),
    timelineFailures: new Counter({
      name: 'timeline_failures_total',
      help: 'Failed attempts to write to ClickHouse or to erase there, by cause: disk_full or other. They are retried.',
      labelNames: ['cause'],
      registers,
    }),
    timelineRows: new Counter({ name: 'timeline_rows_total', help: 'Events inserted into ClickHouse.', registers }),
    timelineInsertSeconds: new Histogram({
      name: 'timeline_insert_duration_seconds',
      help: 'Time from reading a group from the outbox to marking it as shipped.',
      buckets: LATENCY_SECONDS,
      registers,
    }),
    webHits: new Counter({ name: 'web_hits_total', help: 'Captured hits inserted into ClickHouse.', registers }),
    webFailures: new Counter({
      name: 'web_failures_total',
      help: 'Failed attempts to insert captured hits into ClickHouse. The hits stay in their partition and are retried.',
      registers,
    }),
    deadLetters: new Gauge({
      name: 'dead_letters',
      help: 'Requests kept because they could not be applied.',
      registers,
    }),
  }
}

/** Deliveries of conversions to ad platforms and webhooks. */
function deliveryMetrics(registers: Registry[]) {
  return {
    deliveries: new Counter({
      name: 'deliveries_total',
      help: 'Attempts to send a conversion, by kind of destination and outcome: sent, retry, dead.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    deliveriesQueued: new Gauge({ name: 'deliveries_queued', help: 'Conversions that wait to be sent.', registers }),
    deliveriesDead: new Gauge({
      name: 'deliveries_dead',
      help: 'Conversions that were abandoned after their last attempt.',
      registers,
    }),
    deliveriesLagSeconds: new Gauge({
      name: 'deliveries_lag_seconds',
      help: 'How long the oldest conversion has been due; 0 when none is.',
      registers,
    }),
  }
}
