import type { Sql } from '../../stores/postgres.ts'

/** The metrics of the timeline worker. The gauges, counters and histograms of prom-client fit this interface. */
export interface TimelineMetrics {
  /** Saves that ClickHouse does not have yet. */
  outboxRows?: { set(rows: number): void }
  /** Age of the oldest of them in seconds; 0 when there are none. */
  outboxLagSeconds?: { set(seconds: number): void }
  /** Rounds of shipping and of the background jobs that failed. Postgres keeps the unfinished work. */
  timelineFailures?: { inc(labels: { cause: 'disk_full' | 'other' }): void }
  /** Events inserted into ClickHouse. */
  timelineRows?: { inc(events: number): void }
  /** Seconds from reading a group to marking it shipped. */
  timelineInsertSeconds?: { observe(seconds: number): void }
}

export async function observeOutbox(sql: Sql, metrics: TimelineMetrics): Promise<void> {
  const { rows, seconds } = await readOutboxLag(sql)
  metrics.outboxRows?.set(rows)
  metrics.outboxLagSeconds?.set(seconds)
}

/** Reads the size and the age of the outbox. Resent events are old, so they are not counted. */
export async function readOutboxLag(sql: Sql): Promise<{ rows: number; seconds: number }> {
  const [waiting] = await sql<[{ rows: number; seconds: number }]>`
    select count(*) as rows, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
    from outbox where shipped_at is null and resend is null`
  return waiting
}
