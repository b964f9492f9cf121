/** The single transaction that changes the number of partitions. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { streamKey } from '../../src/stream/keys.ts'
import { acquireLease, readHolders, renewLease } from '../../src/stream/leases/lease.ts'
import { PARTITION_KINDS, allPartitions } from '../../src/stream/partitions/partition-of.ts'
import {
  beginChange,
  closeKinds,
  readPartitionMap,
  switchPartitions,
} from '../../src/stream/partitions/partition-map.ts'
import { readPositions } from '../../src/stream/partitions/positions.ts'
import { openStack } from '../support/stack.ts'
import { change } from './changing-partitions.ts'
import { type IngestLab, openIngestLab } from './ingest-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

describe('the switch', () => {
  const closed = async (to: number): Promise<number> => {
    const begun = await beginChange(stack.sql, (await readPartitionMap(stack.sql)).version, to)
    return (await closeKinds(stack.sql, begun ?? 0, [...PARTITION_KINDS])) ?? 0
  }
  const empty = (partitions: number, position?: string) =>
    allPartitions(partitions).map((partition) => ({ partition, lastId: '0-0', ...(position && { position }) }))

  it('is made from the step before it alone, and names every partition', async () => {
    const version = await closed(3)
    expect(await switchPartitions(stack.sql, version - 1, empty(2))).toBeUndefined()
    expect(await switchPartitions(stack.sql, version + 1, empty(2))).toBeUndefined()
    expect(await switchPartitions(stack.sql, version, empty(1))).toBeUndefined()
    expect(await switchPartitions(stack.sql, version, empty(2))).toBe(0)
    expect(await switchPartitions(stack.sql, version, empty(2))).toBeUndefined()
    expect(await readPartitionMap(stack.sql)).toMatchObject({ partitions: 3, version: version + 1, change: undefined })
  })

  it('is not made when a failover has put a position back', async () => {
    const version = await closed(3)
    await stack.sql`update positions set position = '7-2' where partition <> 'web-1'`
    await stack.sql`update positions set position = '7-1' where partition = 'web-1'`
    expect(await switchPartitions(stack.sql, version, empty(2, '7-2'))).toBeUndefined()
    expect(await switchPartitions(stack.sql, version, empty(2, '7-1'))).toBe(0)
  })

  it('ends the leases of all owners', async () => {
    const leases = await Promise.all(
      allPartitions(2).map((partition) => acquireLease(stack.sql, partition, 'a', 60_000)),
    )
    await change(lab, 3)
    for (const lease of leases) expect(lease && (await renewLease(stack.sql, lease, 60_000))).toBe(false)
    expect((await readHolders(stack.sql)).filter(({ owner }) => owner !== null)).toEqual([])
  })

  it('is not made while live is open', async () => {
    const begun = await beginChange(stack.sql, (await readPartitionMap(stack.sql)).version, 3)
    expect(await switchPartitions(stack.sql, begun ?? 0, empty(2))).toBeUndefined()
  })

  it('starts a partition past every position that one of its name, or any other, ever had', async () => {
    await stack.sql`update positions set position = '7-12' where partition = 'live-1'`
    await stack.sql`update positions set position = '7-9' where partition = 'backfill-0'`
    const before = await acquireLease(stack.sql, 'live-1', 'before', 60_000)
    await change(lab, 1)
    await change(lab, 2)
    const after = await acquireLease(stack.sql, 'live-1', 'after', 60_000)
    expect(after).toMatchObject({ position: '7-12' })
    expect(after?.epoch).toBeGreaterThan(before?.epoch ?? Infinity)
    expect(before && (await renewLease(stack.sql, before, 60_000))).toBe(false)
    expect((await readPositions(stack.sql)).get('backfill-0')).toBe('7-9')
  })

  it('passes entries that were deleted by hand, and fences an owner that may still have them', async () => {
    await lab.redis.xadd(streamKey('live-1'), '5-1', 'd', 'x')
    await lab.redis.xdel(streamKey('live-1'), '5-1')
    const lease = await acquireLease(stack.sql, 'live-1', 'a', 60_000)
    const reports: string[] = []
    await change(lab, 3, { reports })
    expect(reports.join()).toContain('1 partitions had lost entries')
    expect((await readPositions(stack.sql)).get('live-1')).toBe('5-1')
    expect(lease && (await renewLease(stack.sql, lease, 60_000))).toBe(false)
  })
})
