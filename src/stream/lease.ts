/**
 * Who works on a partition. Leases spread the work and nothing else: that a partition is never applied by two at once
 * is the save's doing, which asserts the epoch that was issued here (design, promise 2).
 */
import type { Sql } from '../stores/postgres.ts'
import type { Redis } from '../stores/redis.ts'
import { workersKey } from './keys.ts'
import { ANNOUNCE } from './lua.ts'
import type { PartitionKind } from './partition-of.ts'
import { runScript } from './run-script.ts'
import type { LeaseHolder } from './rebalance-leases.ts'

export interface Lease {
  partition: string
  /** Issued by Postgres, one higher for each owner. */
  epoch: number
  /** The committed position at the start. */
  position: string
  /** Of a web partition: where the batch ends that an owner before may have inserted (src/web-events/apply-web-batch.ts). */
  pending?: string | null
}

/** No lease is longer: LEASE_MS allows 10 minutes. One that seems to be was given before Postgres' clock was set back. */
export const leaseIsHeld = (sql: Sql) => sql`lease_until > now() and lease_until <= now() + interval '10 minutes'`

/**
 * To be evaluated in a statement that is its own transaction: its commit waits for no disk. A renewal that is lost with
 * Postgres' memory ends a lease too early: epochs make that harmless (of the timeline, tokens and revisions). No epoch is given so.
 */
export const withoutDisk = (sql: Sql) => sql`set_config('synchronous_commit', 'off', true)`

/** Takes a partition that nobody holds, or that this owner held before; undefined when another was faster. */
export async function acquireLease(
  sql: Sql,
  partition: string,
  owner: string,
  leaseMs: number,
): Promise<Lease | undefined> {
  const [lease] = await sql<Lease[]>`
    update positions set epoch = epoch + 1, owner = ${owner}, lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where partition = ${partition} and (owner = ${owner} or not (${leaseIsHeld(sql)}))
    returning partition, epoch, position, pending`
  return lease
}

/** False when the partition has another owner by now, or was released. */
export async function renewLease(sql: Sql, { partition, epoch }: Lease, leaseMs: number): Promise<boolean> {
  const renewed = await sql`
    update positions set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where partition = ${partition} and epoch = ${epoch} and owner is not null`
  return renewed.count === 1
}

/** A lease that is over by itself, or was released, is not suspended. */
const suspendedBy = (sql: Sql) => sql`case when lease_until = '-infinity' then owner end`

/** A partition with its live owner, if it has one, and the epoch that was issued last. */
export type Holder = LeaseHolder & { epoch: number }

/**
 * Renews them by one statement that waits for none, and reads in the same who has what. Those that were not renewed are
 * another's by now, or in the middle of a save.
 */
export async function renewLeases(
  sql: Sql,
  leases: Lease[],
  leaseMs: number,
): Promise<{ renewed: Set<string>; holders: Holder[] }> {
  const mine = JSON.stringify(leases.map(({ partition, epoch }) => ({ partition, epoch })))
  const rows = await sql<(Holder & { renewed: boolean })[]>`
    with free as materialized (
      select p.partition from json_to_recordset(${mine}::text::json) as mine (partition text, epoch bigint)
      join positions p on p.partition = mine.partition and p.epoch = mine.epoch and p.owner is not null
      for no key update of p skip locked
    ),
    renewed as (
      update positions p set lease_until = now() + ${leaseMs} * interval '1 millisecond'
      from free where p.partition = free.partition
      returning p.partition, ${withoutDisk(sql)}
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
 * Lets another worker take these partitions, and this one renew the leases if none has. One in the middle of a save is left
 * as it is.
 */
export async function suspendLeases(sql: Sql, leases: Lease[]): Promise<void> {
  const mine = JSON.stringify(leases.map(({ partition, epoch }) => ({ partition, epoch })))
  await sql`
    with free as materialized (
      select p.partition from json_to_recordset(${mine}::text::json) as mine (partition text, epoch bigint)
      join positions p on p.partition = mine.partition and p.epoch = mine.epoch and p.owner is not null
      for no key update of p skip locked
    )
    update positions p set lease_until = '-infinity' from free
    where p.partition = free.partition and ${withoutDisk(sql)} is not null`
}

/** Lets the next owner in at once. */
export async function releaseLease(sql: Sql, { partition, epoch }: Lease): Promise<void> {
  await sql`
    update positions set owner = null, lease_until = '-infinity' where partition = ${partition} and epoch = ${epoch}`
}

/** All that bears this owner's name, under whatever epoch: a Redis that came anew has raised them (stream/partition-map.ts). */
export async function releaseAll(sql: Sql, owner: string): Promise<void> {
  await sql`
    with held as materialized (
      select partition from positions where owner = ${owner} order by partition for no key update
    )
    update positions p set owner = null, lease_until = '-infinity' from held where p.partition = held.partition`
}

/** Of every partition. */
export async function readHolders(sql: Sql): Promise<Holder[]> {
  return sql<Holder[]>`
    select partition, epoch, case when ${leaseIsHeld(sql)} then owner end as owner, ${suspendedBy(sql)} as "suspendedBy"
    from positions order by partition`
}

/**
 * Says that this worker is alive for `forMs` more, 0 that it leaves; resolves with the names of all that are and share out the
 * same kinds of partitions.
 */
export async function announceWorker(
  redis: Redis,
  { owner, kinds }: { owner: string; kinds: readonly PartitionKind[] },
  forMs: number,
): Promise<string[]> {
  return (await runScript(redis, ANNOUNCE, [workersKey(kinds)], [owner, Math.round(forMs)])) as string[]
}
