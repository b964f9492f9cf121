import type { Sql } from '../stores/postgres.ts'

/** Satisfied by the gauges of prom-client. */
export interface QueueMetrics {
  deliveriesQueued: { set(deliveries: number): void }
  deliveriesDead: { set(deliveries: number): void }
  deliveriesLagSeconds: { set(seconds: number): void }
}

/**
 * Sets the gauges: the number of queued deliveries, the number of those given up, and how long the oldest one has been
 * due. The lag excludes inactive destinations and businesses.
 */
export async function observeDeliveries(sql: Sql, metrics: QueueMetrics): Promise<void> {
  const [row] = await sql<[{ queued: number; dead: number; seconds: number }]>`
    select
      (select count(*) from deliveries where state = 'queued') as queued,
      (select count(*) from deliveries where state = 'dead') as dead,
      (select coalesce(extract(epoch from max(now() - due.since)), 0)::float8
        from destinations d
        join businesses b on b.id = d.business_id and b.active and b.removed_at is null
        cross join lateral (
          select q.next_attempt_at as since from deliveries q
          where q.business_id = d.business_id and q.destination_id = d.id and q.state = 'queued'
          order by q.next_attempt_at limit 1
        ) due
        where d.active and due.since <= now()) as seconds`
  metrics.deliveriesQueued.set(row.queued)
  metrics.deliveriesDead.set(row.dead)
  metrics.deliveriesLagSeconds.set(row.seconds)
}
