/**
 * Checks that the stores contain exactly the events that were acknowledged to the callers: a fast but wrong result is
 * worthless.
 */
import type { Stack } from './stack.ts'

type Own = Stack['own']

/** Throws when Postgres or the view of ClickHouse does not count exactly `acknowledged` events of these businesses. */
export async function verifyCounts(own: Own, businessIds: string[], acknowledged: number): Promise<void> {
  const [postgres, clickhouse] = await Promise.all([countInPostgres(own, businessIds), countVisible(own, businessIds)])
  if (postgres === acknowledged && clickhouse === acknowledged) return
  throw new Error(
    `${acknowledged} events were acknowledged, but Postgres counts ${postgres} and ClickHouse ${clickhouse}`,
  )
}

async function countInPostgres({ sql }: Own, businessIds: string[]): Promise<number> {
  const [row] = await sql<[{ events: number }]>`
    select coalesce(sum(count), 0)::float8 as events
    from event_statistics where business_id = any(${`{${businessIds.join(',')}}`}::uuid[])`
  return row.events
}

/**
 * Counts through the view for analysts. The ids are part of the statement, because a thousand would be too long for a
 * URL.
 */
async function countVisible({ clickhouse }: Own, businessIds: string[]): Promise<number> {
  const result = await clickhouse.query({
    query: `select toString(count()) as events from timeline
      where business_id in (${businessIds.map((id) => `toUUID('${id}')`).join(',')})`,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ events: string }>()
  return Number(row?.events ?? 0)
}
