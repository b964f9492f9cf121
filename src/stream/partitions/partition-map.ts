/**
 * The number of partitions, and a change of it in progress: one row in Postgres, which every front door watches. Each
 * step of a change raises the version and requires the version of the previous step. So only one of two concurrent
 * commands succeeds, and a command that was paused for too long fails.
 */
import type { Sql } from '../../stores/postgres.ts'
import type { PartitionKind } from './partition-of.ts'

export interface PartitionMap {
  version: number
  /** Number of partitions of each kind. */
  partitions: number
  /** The kinds that currently accept no requests. */
  closed: ReadonlySet<PartitionKind>
  change: { to: number; until: Date } | undefined
  /** The committed position of every partition. */
  positions: Map<string, string>
}

/** Milliseconds after which a change that was not renewed ends: its command has died. */
export const CHANGE_LEASE_MS = 3000

/**
 * `redisRun` identifies the Redis process that requests are appended to. A new process may have lost entries that a
 * worker has read and is about to commit. The ids of new entries could then be at or below the position of that save,
 * and the entries would never be read. So the epochs are raised first: earlier saves are either already committed, or
 * fail.
 */
export async function initPartitionMap(sql: Sql, redisRun: string): Promise<void> {
  await sql`
    with seen as (
      update partitioning set redis_run = ${redisRun} where redis_run is distinct from ${redisRun} returning only_row
    ),
    -- Every statement that locks several rows locks them in this order.
    held as materialized (
      select partition from positions where exists (select from seen) order by partition for no key update
    )
    update positions p set epoch = epoch + 1 from held where p.partition = held.partition`
}

/**
 * Reads the partition map. First ends a change that has expired, or whose end is too far ahead because the clock was
 * set back. `fence` is a version that Redis holds. If it is above the version in Postgres, a backup was restored, and
 * the version is raised to at least the fence.
 */
export async function readPartitionMap(sql: Sql, fence = 0): Promise<PartitionMap> {
  await sql`
    update partitioning set
      version = greatest(version + 1, ${fence}), closed = '{}', change_to = null, change_until = null
    where change_until < now() or change_until > now() + interval '1 minute' or version < ${fence}`
  const rows = await sql<PartitionMapRow[]>`
    select version, partitions, array_to_string(closed, ' ') as closed, change_to as to, change_until as until,
      partition, position
    from partitioning left join positions on true`
  const [row] = rows
  if (!row) throw new Error('The number of partitions is not recorded.')
  const { version, partitions, closed, to, until } = row
  return {
    version,
    partitions,
    closed: new Set(closed.split(' ').filter(Boolean) as PartitionKind[]),
    change: to === null || until === null ? undefined : { to, until },
    positions: new Map(rows.flatMap(({ partition, position }) => (partition ? [[partition, position]] : []))),
  }
}

interface PartitionMapRow {
  version: number
  partitions: number
  closed: string
  to: number | null
  until: Date | null
  /** Null when the table `positions` is empty. */
  partition: string | null
  position: string
}

/** Closes the backfill partitions. Resolves with the new version; undefined when another change was faster. */
export async function beginChange(sql: Sql, version: number, to: number): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update partitioning set
      version = version + 1, closed = '{backfill}', change_to = ${to}, change_until = ${changeExpiry(sql)}
    where version = ${version} and change_to is null
    returning version`
  return row?.version
}

/** Sets which kinds are closed. Resolves with the new version; undefined when the change was ended. */
export async function closeKinds(sql: Sql, version: number, kinds: PartitionKind[]): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update partitioning set
      version = version + 1, closed = ${`{${kinds.join(',')}}`}::text[], change_until = ${changeExpiry(sql)}
    where version = ${version} and change_to is not null
    returning version`
  return row?.version
}

/** Resolves with false when the change was ended. */
export async function renewChange(sql: Sql, version: number): Promise<boolean> {
  const renewed = await sql`
    update partitioning set change_until = ${changeExpiry(sql)} where version = ${version} and change_to is not null`
  return renewed.count === 1
}

/** Reopens all kinds with the old number. */
export async function cancelChange(sql: Sql, version: number): Promise<void> {
  await sql`
    update partitioning set version = version + 1, closed = '{}', change_to = null, change_until = null
    where version = ${version} and change_to is not null`
}

/** A partition that was seen empty behind its fence. */
export interface EmptyPartition {
  partition: string
  /** The last id of its stream. */
  lastId: string
  /** The committed position when it was seen. Default: any. */
  position?: string
}

/**
 * Resolves with the number of positions that were behind their empty stream; undefined when nothing was written (see
 * the SQL function).
 */
export async function switchPartitions(
  sql: Sql,
  version: number,
  empty: readonly EmptyPartition[],
): Promise<number | undefined> {
  const lastIds = Object.fromEntries(empty.map(({ partition, lastId }) => [partition, lastId]))
  const positions = Object.fromEntries(empty.map(({ partition, position }) => [partition, position]))
  const [row] = await sql<{ passed: number | null }[]>`
    select switch_partitions(${version}, ${JSON.stringify(lastIds)}::text::json, ${JSON.stringify(positions)}::text::json) as passed`
  return row?.passed ?? undefined
}

const changeExpiry = (sql: Sql) => sql`now() + ${CHANGE_LEASE_MS} * interval '1 millisecond'`
