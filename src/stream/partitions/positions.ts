/** The table `positions`: the committed position and the owner of each partition. */
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { type Lease, leaseIsHeld } from '../leases/lease.ts'

/** Reads the committed position of every partition. */
export async function readPositions(sql: Queryable): Promise<Map<string, string>> {
  const rows = await sql<{ partition: string; position: string }[]>`select partition, position from positions`
  return new Map(rows.map((row) => [row.partition, row.position]))
}

/** Lists the partitions without a live owner, except those created within the last 5 seconds. */
export async function unownedPartitions(sql: Sql): Promise<string[]> {
  const rows = await sql<{ partition: string }[]>`
    select partition from positions
    where not (${leaseIsHeld(sql)}) and made_at not between now() - interval '5 seconds' and now()
    order by partition`
  return rows.map((row) => row.partition)
}

/**
 * Lists the web partitions whose batch has been on its way to ClickHouse for more than 10 seconds, with the seconds.
 */
export async function stuckWebPartitions(sql: Sql): Promise<{ partition: string; seconds: number }[]> {
  return sql<{ partition: string; seconds: number }[]>`
    select partition, floor(extract(epoch from now() - pending_at))::int as seconds from positions
    where pending_at < now() - interval '10 seconds' order by partition`
}

/** Clears the batch that an earlier owner stamped: Redis has lost it, so it cannot be repeated. */
export async function clearPending(sql: Sql, { partition, epoch }: Lease, position: string): Promise<void> {
  await sql`
    update positions set pending = null, pending_at = null
    where partition = ${partition} and epoch = ${epoch} and position = ${position}`
}
