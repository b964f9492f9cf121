/**
 * How many partitions there are, and the change of that number: one row in Postgres, which every front door follows. Its
 * version grows with each step of a change; a step is taken only from the version that it follows, so that of two commands,
 * or of one that slept past its time, one alone gets anywhere.
 */
import type { Sql } from '../stores/postgres.ts'
import type { PartitionKind } from './partition-of.ts'

export interface PartitionMap {
  version: number
  /** Of each kind. */
  partitions: number
  /** The kinds that take nothing now. */
  closed: ReadonlySet<PartitionKind>
  change: { to: number; until: Date } | undefined
  /** The committed position of every partition. */
  positions: Map<string, string>
}

/** A change that nobody has renewed for so long has lost its command. */
export const CHANGE_HOLDS_MS = 3000

/**
 * `redisRun` names the Redis process that requests are appended to. A new one may have lost entries that a worker has read
 * and is about to commit; its ids could then lie at or below the position of that save, and never be read. So the
 * epochs move on first: saves of before are written by now, or never will be.
 */
export async function initPartitionMap(sql: Sql, redisRun: string): Promise<void> {
  await sql`
    with seen as (
      update partitioning set redis_run = ${redisRun} where redis_run is distinct from ${redisRun} returning only_row
    ),
    -- All who take several rows take them in this order.
    held as materialized (
      select partition from positions where exists (select from seen) order by partition for no key update
    )
    update positions p set epoch = epoch + 1 from held where p.partition = held.partition`
}

/**
 * Ends a change whose time is over (or lies further ahead than any: the clock was set back), and reads what is true then.
 * `fence`: a version that Redis knows of. One above Postgres' own is from before a backup was put back, and is gone past.
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
  /** Null when there are no positions at all. */
  partition: string | null
  position: string
}

/** Closes the backfill partitions; resolves with the version of that, or undefined when another change was faster. */
export async function beginChange(sql: Sql, version: number, to: number): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update partitioning set
      version = version + 1, closed = '{backfill}', change_to = ${to}, change_until = ${inAWhile(sql)}
    where version = ${version} and change_to is null
    returning version`
  return row?.version
}

/** The kinds that are closed from now on; resolves with the version of that, or undefined when the change is lost. */
export async function closeKinds(sql: Sql, version: number, kinds: PartitionKind[]): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update partitioning set
      version = version + 1, closed = ${`{${kinds.join(',')}}`}::text[], change_until = ${inAWhile(sql)}
    where version = ${version} and change_to is not null
    returning version`
  return row?.version
}

/** False when the change is lost. */
export async function renewChange(sql: Sql, version: number): Promise<boolean> {
  const renewed = await sql`
    update partitioning set change_until = ${inAWhile(sql)} where version = ${version} and change_to is not null`
  return renewed.count === 1
}

/** Everything opens again, as it was before. */
export async function cancelChange(sql: Sql, version: number): Promise<void> {
  await sql`
    update partitioning set version = version + 1, closed = '{}', change_to = null, change_until = null
    where version = ${version} and change_to is not null`
}

/** Resolves with how many positions were behind their empty stream; undefined when nothing was written (see the function). */
export async function switchPartitions(
  sql: Sql,
  version: number,
  lastIds: Map<string, string>,
): Promise<number | undefined> {
  const ids = JSON.stringify(Object.fromEntries(lastIds))
  const [row] = await sql<{ passed: number | null }[]>`
    select switch_partitions(${version}, ${ids}::text::json) as passed`
  return row?.passed ?? undefined
}

const inAWhile = (sql: Sql) => sql`now() + ${CHANGE_HOLDS_MS} * interval '1 millisecond'`
