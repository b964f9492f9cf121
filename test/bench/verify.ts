/** Checks that the stores hold exactly what was acknowledged to the callers: a fast answer that is wrong is worth nothing. */
import type { Stack } from './stack.ts'

type Own = Stack['own']

/** Throws when Postgres or the view of ClickHouse counts other than `acknowledged` events of these businesses. */
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

/** As analysts see it. The ids stand in the text: a thousand would be too long for an address. */
async function countVisible({ clickhouse }: Own, businessIds: string[]): Promise<number> {
  const result = await clickhouse.query({
    query: `select toString(count()) as events from timeline
      where business_id in (${businessIds.map((id) => `toUUID('${id}')`).join(',')})`,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ events: string }>()
  return Number(row?.events ?? 0)
}
