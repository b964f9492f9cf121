/** Statements that lock several rows of `positions` lock them in the order of their names, so that no two deadlock. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { acquireLease, releaseAll } from '../../src/stream/leases/lease.ts'
import { PARTITION_KINDS, allPartitions } from '../../src/stream/partitions/partition-of.ts'
import {
  beginChange,
  closeKinds,
  initPartitionMap as openForRedis,
  readPartitionMap,
  switchPartitions,
} from '../../src/stream/partitions/partition-map.ts'
import { openStack } from '../support/stack.ts'
import { PARTITIONS, type IngestLab, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

/**
 * Returns the rows that are locked while the first one by name is kept locked by another session. The rows were
 * inserted in another order.
 */
async function takenBehindFirst(take: () => Promise<unknown>): Promise<string[]> {
  const { sql } = stack
  const [first, ...others] = allPartitions(PARTITIONS).toSorted() as [string, ...string[]]
  const holder = await sql.reserve()
  await holder`begin`
  await holder`select from positions where partition = ${first} for update`
  const taking = take()
  const waiting = async () =>
    (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).count
  await expect.poll(waiting, { timeout: PATIENCE_MS }).toBe(1)
  const free = await sql`select partition from positions for update skip locked`
  await holder`commit`
  holder.release()
  await taking
  const names = new Set(free.map(({ partition }) => String(partition)))
  return others.filter((partition) => !names.has(partition))
}

it('a new Redis', async () => {
  expect(await takenBehindFirst(() => openForRedis(stack.sql, 'a new run'))).toEqual([])
  const epochs = await stack.sql<{ epoch: number }[]>`select epoch from positions`
  expect(epochs.map(({ epoch }) => epoch)).toEqual(allPartitions(PARTITIONS).map(() => 1))
})

it('a worker that leaves', async () => {
  for (const partition of allPartitions(PARTITIONS)) await acquireLease(stack.sql, partition, 'a', 60_000)
  expect(await takenBehindFirst(() => releaseAll(stack.sql, 'a'))).toEqual([])
  expect(await stack.sql`select from positions where owner is not null`).toHaveLength(0)
})

it('a change of their number', async () => {
  const begun = await beginChange(stack.sql, (await readPartitionMap(stack.sql)).version, 3)
  const version = (await closeKinds(stack.sql, begun ?? 0, [...PARTITION_KINDS])) ?? 0
  const empty = allPartitions(PARTITIONS).map((partition) => ({ partition, lastId: '0-0' }))
  expect(await takenBehindFirst(() => switchPartitions(stack.sql, version, empty))).toEqual([])
  expect((await readPartitionMap(stack.sql)).partitions).toBe(3)
})
