/** The table of partitions: how far each has come, and who works on it. */
import type { Sql } from '../stores/postgres.ts'

/** The committed position of every partition. */
export async function readPositions(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ partition: string; position: string }[]>`select partition, position from positions`
  return new Map(rows.map((row) => [row.partition, row.position]))
}

/**
 * The floors for appends to one Redis process, named by its run id. A process that is new here may have lost entries that a
 * worker has read and is about to commit; its ids could then lie at or below the position of that save, and never be
 * read. So the epochs move on first: saves of before are written by now, or never will be.
 */
export async function readFloors(sql: Sql, redisRun: string): Promise<Map<string, string>> {
  await sql`
    with seen as (
      update partitioning set redis_run = ${redisRun} where redis_run is distinct from ${redisRun} returning only_row
    )
    update positions set epoch = epoch + 1 where exists (select from seen)`
  return readPositions(sql)
}

/** The partitions that nobody works on now: their loop has stopped ticking, or has no worker. */
export async function unattendedPartitions(sql: Sql): Promise<string[]> {
  const rows = await sql<{ partition: string }[]>`
    select partition from positions where lease_until <= now() order by partition`
  return rows.map((row) => row.partition)
}
