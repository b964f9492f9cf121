/**
 * Leases assign partitions to workers. They only distribute the work. The save asserts the epoch that is issued here,
 * which keeps two workers from applying one partition at once (design, promise 2).
 */
import { MAX_LEASE_MS } from '../../config.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import { workersKey } from '../keys.ts'
import { ANNOUNCE } from '../lua.ts'
import type { PartitionKind } from '../partitions/partition-of.ts'
import { runScript } from '../run-script.ts'
import type { LeaseHolder } from './rebalance-leases.ts'

export interface Lease {
  partition: string
  /**
   * Issued by Postgres, one higher for each owner. After a failover, it is higher than any that the lost commits may
   * have issued.
   */
  epoch: number
  /** The committed position when the lease was acquired. */
  position: string
  /**
   * Web partitions only: the end of the batch that an earlier owner may have inserted
   * (src/web-events/apply-web-batch.ts).
   */
  pending?: string | null
}

/** A lease that ends later than MAX_LEASE_MS allows was issued before Postgres' clock was set back. */
export const leaseIsHeld = (sql: Sql) =>
  sql`lease_until > now() and lease_until <= now() + ${MAX_LEASE_MS} * interval '1 millisecond'`

/**
 * For a statement that is its own transaction: the commit then does not wait for the disk. If Postgres loses a renewal
 * in a crash, the lease ends too early. Epochs make that harmless. For the timeline, tokens and revisions do.
 * Statements that issue an epoch must not use this.
 */
export const asynchronousCommit = (sql: Sql) => sql`set_config('synchronous_commit', 'off', true)`

/**
 * Acquires a partition that has no owner, or that this owner had before. Resolves with undefined when another worker
 * was faster.
 */
export async function acquireLease(
  sql: Sql,
  partition: string,
  owner: string,
  leaseMs: number,
): Promise<Lease | undefined> {
  const [lease] = await sql<Lease[]>`
    update positions set epoch = greatest(epoch + 1, (wal_timeline() - 1) << 32), owner = ${owner}, lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where partition = ${partition} and (owner = ${owner} or not (${leaseIsHeld(sql)}))
    returning partition, epoch, position, pending`
  return lease
}

/** Resolves with false when the partition has another owner, or was released. */
export async function renewLease(sql: Sql, { partition, epoch }: Lease, leaseMs: number): Promise<boolean> {
  const renewed = await sql`
    update positions set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where partition = ${partition} and epoch = ${epoch} and owner is not null`
  return renewed.count === 1
}

/** Leases that have expired or were released do not count as suspended. */
const suspendedBy = (sql: Sql) => sql`case when lease_until = '-infinity' then owner end`

const idOf = ({ partition, epoch }: Lease) => ({ partition, epoch })

/** A partition with its live owner, if it has one, and the last epoch that was issued. */
export type PartitionLease = LeaseHolder & { epoch: number }

/** A partition with its committed position. */
export type PartitionHolder = PartitionLease & { position: string }

/** Resolves with true when Postgres has failed over: owners have to start again (notice_failover.sql). */
export async function noticeFailover(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ noticed: boolean }]>`select notice_failover() as noticed`
  return row.noticed
}

/**
 * Renews the leases, each for its own number of milliseconds, and reads the holders of all leases. It uses one
 * statement that waits for no row lock. A lease that was not renewed has another owner, or its row is locked by a save.
 */
export async function renewLeases(
  sql: Sql,
  leases: Lease[],
  msOf: (lease: Lease) => number,
): Promise<{ renewed: Set<string>; holders: PartitionLease[] }> {
  const mine = JSON.stringify(leases.map((lease) => ({ ...idOf(lease), ms: msOf(lease) })))
  const rows = await sql<(PartitionLease & { renewed: boolean })[]>`
    with free as materialized (
      select p.partition, mine.ms
      from json_to_recordset(${mine}::text::json) as mine (partition text, epoch bigint, ms float8)
      join positions p on p.partition = mine.partition and p.epoch = mine.epoch and p.owner is not null
      for no key update of p skip locked
    ),
    renewed as (
      update positions p set lease_until = now() + free.ms * interval '1 millisecond'
      from free where p.partition = free.partition
      returning p.partition, ${asynchronousCommit(sql)}
    )
    select partition, epoch, renewed.partition is not null as renewed,
      case when renewed.partition is not null or ${leaseIsHeld(sql)} then owner end as owner,
      case when renewed.partition is null then ${suspendedBy(sql)} end as "suspendedBy"
    from positions left join renewed using (partition) order by partition`
  return {
    renewed: new Set(rows.filter(({ renewed }) => renewed).map(({ partition }) => partition)),
    holders: rows.map(({ renewed: _, ...holder }) => holder),
  }
}

/**
 * Suspends leases. Other workers may take the partitions; this worker can renew the leases that no other worker took. A
 * lease whose row is locked by a save is left unchanged.
 */
export async function suspendLeases(sql: Sql, leases: Lease[]): Promise<void> {
  const mine = JSON.stringify(leases.map(idOf))
  await sql`
    with free as materialized (
      select p.partition from json_to_recordset(${mine}::text::json) as mine (partition text, epoch bigint)
      join positions p on p.partition = mine.partition and p.epoch = mine.epoch and p.owner is not null
      for no key update of p skip locked
    )
    update positions p set lease_until = '-infinity' from free
    where p.partition = free.partition and ${asynchronousCommit(sql)} is not null`
}

/** Releases the lease, so that the next owner can acquire the partition at once. */
export async function releaseLease(sql: Sql, { partition, epoch }: Lease): Promise<void> {
  await sql`
    update positions set owner = null, lease_until = '-infinity' where partition = ${partition} and epoch = ${epoch}`
}

/**
 * Releases all leases of this owner, under any epoch: a new Redis process raises the epochs (stream/partitions/partition-map.ts).
 */
export async function releaseAll(sql: Sql, owner: string): Promise<void> {
  await sql`
    with held as materialized (
      select partition from positions where owner = ${owner} order by partition for no key update
    )
    update positions p set owner = null, lease_until = '-infinity' from held where p.partition = held.partition`
}

/** Reads the holders of all partitions. */
export async function readHolders(sql: Sql): Promise<PartitionHolder[]> {
  return sql<PartitionHolder[]>`
    select partition, epoch, position, case when ${leaseIsHeld(sql)} then owner end as owner, ${suspendedBy(sql)} as "suspendedBy"
    from positions order by partition`
}

/**
 * Announces that this worker is alive for another `forMs` milliseconds; 0 means that it leaves. Resolves with the names
 * of all live workers that share the same kinds of partitions.
 */
export async function announceWorker(
  redis: Redis,
  { owner, kinds }: { owner: string; kinds: readonly PartitionKind[] },
  forMs: number,
): Promise<string[]> {
  return (await runScript(redis, ANNOUNCE, [workersKey(kinds)], [owner, Math.round(forMs)])) as string[]
}
