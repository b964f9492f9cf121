/** Which worker has which partitions: fair shares, take-over, graceful hand-over. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { workersKey } from '../../src/stream/keys.ts'
import {
  type Lease,
  acquireLease,
  announceWorker,
  readHolders,
  releaseLease,
  renewLease,
  renewLeases,
} from '../../src/stream/leases/lease.ts'
import {
  PARTITION_KINDS,
  LOW_PRIORITY_KINDS,
  URGENT_KINDS,
  allPartitions,
  kindOf,
} from '../../src/stream/partitions/partition-of.ts'
import { initPartitionMap as handOutAnew } from '../../src/stream/partitions/partition-map.ts'
import { unownedPartitions } from '../../src/stream/partitions/positions.ts'
import { type LeaseHolder, rebalanceLeases } from '../../src/stream/leases/rebalance-leases.ts'
import { openStack } from '../support/stack.ts'
import { type IngestLab, applyOnce, businessOf, event, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

const soon = { timeout: PATIENCE_MS, interval: 5 }

/** Returns when its lease ends. */
const endOf = async (partition: string): Promise<number> => {
  const [row] = await stack.sql<[{ at: number }]>`
    select (extract(epoch from lease_until) * 1000)::float8 as at from positions where partition = ${partition}`
  return row.at
}

describe('a lease', () => {
  it('belongs to one owner until it expires, and each owner has a higher epoch', async () => {
    const first = await acquireLease(stack.sql, 'live-0', 'a', 60_000)
    expect(first).toEqual({ partition: 'live-0', epoch: 1, position: '0-0', pending: null })
    expect(await acquireLease(stack.sql, 'live-0', 'b', 60_000)).toBeUndefined()
    expect((await acquireLease(stack.sql, 'live-0', 'a', 60_000))?.epoch).toBe(2)
    await stack.sql`update positions set lease_until = now() - interval '1 second' where partition = 'live-0'`
    const third = await acquireLease(stack.sql, 'live-0', 'b', 60_000)
    expect(third?.epoch).toBe(3)
    if (!first || !third) return
    expect(await renewLease(stack.sql, first, 60_000)).toBe(false)
    expect(await renewLease(stack.sql, third, 60_000)).toBe(true)
    await releaseLease(stack.sql, first)
    expect(await acquireLease(stack.sql, 'live-0', 'c', 60_000)).toBeUndefined()
    await releaseLease(stack.sql, third)
    expect((await acquireLease(stack.sql, 'live-0', 'c', 60_000))?.epoch).toBe(4)
  })

  it('that lasts longer than possible was given before the clock was set back, and counts as expired', async () => {
    const endIn = (interval: string) =>
      stack.sql`update positions set owner = 'a', lease_until = now() + ${interval}::interval where partition = 'live-0'`
    await acquireLease(stack.sql, 'live-1', 'a', 600_000)
    await endIn('10 minutes')
    expect(await unownedPartitions(stack.sql)).not.toContain('live-0')
    expect(await acquireLease(stack.sql, 'live-0', 'b', 60)).toBeUndefined()
    expect(await acquireLease(stack.sql, 'live-1', 'b', 60)).toBeUndefined()
    await endIn('1 hour')
    expect(await unownedPartitions(stack.sql)).toContain('live-0')
    expect(await acquireLease(stack.sql, 'live-0', 'b', 60)).toBeDefined()
  })
})

describe('the leases of a worker', () => {
  const acquire = async (...partitions: string[]): Promise<Lease[]> => {
    const leases = await Promise.all(partitions.map((partition) => acquireLease(stack.sql, partition, 'a', 60_000)))
    return leases.filter((lease) => lease !== undefined)
  }
  /** Locks its row as a save does, until the returned function is called. */
  const save = async (partition: string) => {
    const connection = await stack.sql.reserve()
    await connection`begin`
    await connection`update positions set attempt = gen_random_uuid() where partition = ${partition}`
    return async () => {
      await connection`commit`
      connection.release()
    }
  }

  it('are renewed together, except those of another worker, released ones, and those in the middle of a save', async () => {
    const leases = await acquire('live-0', 'live-1', 'backfill-0', 'backfill-1', 'web-0')
    const [, mine, lost, released] = leases
    if (!mine || !lost || !released) throw new Error('not acquired')
    await acquireLease(stack.sql, lost.partition, 'a', 60_000)
    await releaseLease(stack.sql, released)
    const endSave = await save('live-0')
    const { renewed, holders } = await renewLeases(stack.sql, leases, () => 60_000)
    expect(renewed).toEqual(new Set(['live-1', 'web-0']))
    // These are the current holders, including partitions that were not renewed.
    expect(holders).toEqual((await readHolders(stack.sql)).map(({ position: _, ...holder }) => holder))
    await endSave()
    expect(await renewLease(stack.sql, released, 60_000)).toBe(false)
    const again = await renewLeases(stack.sql, leases, () => 60_000)
    expect(again.renewed).toEqual(new Set(['live-0', 'live-1', 'web-0']))
    expect((await renewLeases(stack.sql, [], () => 60_000)).renewed).toEqual(new Set())
    // Renewals do not wait for the disk. All other statements do.
    expect(await stack.sql`show synchronous_commit`).toMatchObject([{ synchronous_commit: 'on' }])
  })

  it('do not wait for one whose save takes long, and that one keeps its own', async () => {
    const worker = lab.worker('a', { leaseMs: 3000 })
    await vi.waitUntil(() => worker.running().length === 6, soon)
    const endSave = await save('live-0')
    const before = await endOf('live-1')
    await vi.waitUntil(async () => (await endOf('live-1')) > before + 1000, soon)
    await endSave()
    await vi.waitUntil(async () => (await endOf('live-0')) > before + 1000, soon)
    expect(worker.running()).toHaveLength(6)
    const [row] = await stack.sql<[{ epochs: number }]>`select max(epoch)::int as epochs from positions`
    expect(row.epochs).toBe(1)
  })

  it('are longer while a partition has a batch that keeps the thread busy, until the batch is applied', async () => {
    const leaseMs = 300
    const frontDoor = await lab.frontDoor()
    const applying = Promise.withResolvers<void>()
    const checked = Promise.withResolvers<void>()
    const worker = lab.worker('a', {
      leaseMs,
      async apply(batch) {
        const until = performance.now() + 1000
        while (performance.now() < until);
        applying.resolve()
        await checked.promise
        return applyOnce(stack.sql, batch)
      },
    })
    await vi.waitUntil(() => worker.running().length === 6, soon)
    const answer = frontDoor.submit(event('large', businessOf('live-0')))
    await applying.promise
    const leaseLeft = async (): Promise<number> => {
      const [row] = await stack.sql<[{ left: number }]>`
        select (extract(epoch from lease_until - now()) * 1000)::int as left from positions where partition = 'live-0'`
      return row.left
    }
    await vi.waitUntil(async () => (await leaseLeft()) > 4 * leaseMs, soon)
    const longer = await stack.sql`
      select partition from positions where lease_until > now() + ${2 * leaseMs} * interval '1 millisecond'`
    expect(longer).toEqual([{ partition: 'live-0' }])
    checked.resolve()
    await answer
    await vi.waitUntil(async () => (await leaseLeft()) <= leaseMs, soon)
  })

  it('end with the worker, also when a new Redis has raised their epochs just before', async () => {
    const worker = lab.worker('a', { leaseMs: 60_000 })
    await vi.waitUntil(() => worker.running().length === 6, soon)
    await handOutAnew(stack.sql, 'another run')
    await worker.stop()
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(2).toSorted())
  })
})

describe('the shares', () => {
  /** Lets the workers rebalance one after the other, each with the current state, until none changes anything. */
  function settle(holders: LeaseHolder[], workers: string[]): Map<string, string[]> {
    const held = () =>
      new Map(workers.map((me) => [me, holders.filter(({ owner }) => owner === me).map((h) => h.partition)]))
    for (let round = 0, quiet = 0; quiet < workers.length; round += 1) {
      if (round > 10_000) throw new Error('They never come to rest.')
      const me = workers[round % workers.length] ?? ''
      const { acquire, release } = rebalanceLeases({ me, workers, holders, running: new Set(held().get(me)) })
      for (const holder of holders) {
        if (acquire.includes(holder.partition)) holder.owner = me
        if (holder.partition === release) holder.owner = null
      }
      quiet = acquire.length === 0 && release === undefined ? quiet + 1 : 0
    }
    return held()
  }
  const free = (partitions: number): LeaseHolder[] =>
    allPartitions(partitions).map((partition) => ({ partition, owner: null }))
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

  it('differ by one at most, and leave no partition alone, however many there are', () => {
    for (const partitions of [1, 2, 3, 4, 7, 16]) {
      for (let count = 1; count <= names.length; count += 1) {
        const sizes = [...settle(free(partitions), names.slice(0, count)).values()].map((held) => held.length)
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(PARTITION_KINDS.length * partitions)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }
    }
  })
  it('are settled again when a worker comes or goes', () => {
    for (const partitions of [1, 2, 3, 5]) {
      const holders = free(partitions)
      for (const count of [1, 2, 3, 5, 7]) settle(holders, names.slice(0, count))
      for (const holder of holders) if (holder.owner === 'a' || holder.owner === 'b') holder.owner = null
      const sizes = [...settle(holders, names.slice(2)).values()].map((held) => held.length)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
    }
  })
  it('leave out a partition whose loop has not ended in this worker', () => {
    const { acquire } = rebalanceLeases({ me: 'a', workers: ['a'], holders: free(1), running: new Set(['live-0']) })
    expect(acquire).toEqual(['backfill-0', 'web-0'])
  })
  it('include every kind of partition', () => {
    const shares = settle(free(4), ['a', 'b'])
    for (const held of shares.values())
      for (const kind of PARTITION_KINDS) expect(held.filter((partition) => kindOf(partition) === kind)).toHaveLength(2)
  })
})

describe('workers', () => {
  it('share with a newcomer, and take over what one leaves at once', async () => {
    const first = lab.worker('a', { leaseMs: 2000 })
    await vi.waitUntil(() => first.running().length === 6, soon)
    expect(await unownedPartitions(stack.sql)).toEqual([])
    const second = lab.worker('b', { leaseMs: 2000 })
    await vi.waitUntil(() => first.running().length === 3 && second.running().length === 3, soon)
    expect([...first.running(), ...second.running()].toSorted()).toEqual(allPartitions(2).toSorted())
    await second.stop()
    await vi.waitUntil(() => first.running().length === 6, soon)
  })

  it('take over from one that died within its lease and a second', async () => {
    const leaseMs = 600
    for (const partition of allPartitions(2)) await acquireLease(stack.sql, partition, 'dead', leaseMs)
    expect(await unownedPartitions(stack.sql)).toEqual([])
    const began = performance.now()
    const frontDoor = await lab.frontDoor()
    const heir = lab.worker('heir', { leaseMs })
    expect((await frontDoor.submit(event('r', businessOf('live-0')))).kind).toBe('answered')
    await vi.waitUntil(() => heir.running().length === 6, soon)
    expect(performance.now() - began).toBeLessThan(atLoad(leaseMs + 1000))
  })

  it('have all of their own kinds, whichever worker has the others', async () => {
    const urgent = lab.worker('a', { kinds: URGENT_KINDS })
    const patient = lab.worker('b', { kinds: LOW_PRIORITY_KINDS })
    await vi.waitUntil(() => urgent.running().length + patient.running().length === 6, soon)
    expect(urgent.running()).toEqual(['live-0', 'live-1'])
    const second = lab.worker('c', { kinds: LOW_PRIORITY_KINDS })
    await vi.waitUntil(() => second.running().length === 2 && patient.running().length === 2, soon)
    expect(urgent.running()).toEqual(['live-0', 'live-1'])
    await patient.stop()
    await vi.waitUntil(() => second.running().length === 4, soon)
    expect(second.running()).toEqual(['backfill-0', 'backfill-1', 'web-0', 'web-1'])
  })

  it('notice within a second which partitions were created or released, however long their leases are', async () => {
    const worker = lab.worker('a', { leaseMs: 60_000 })
    await vi.waitUntil(() => worker.running().length === 6, soon)
    // After this time they look only once a second.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const began = performance.now()
    await stack.sql`insert into positions (partition) values ('live-2')`
    await vi.waitUntil(() => worker.running().includes('live-2'), soon)
    // Their leases would be renewed only after twenty seconds.
    expect(performance.now() - began).toBeLessThan(atLoad(4000))
    await handOutAnew(stack.sql, 'yet another run')
    const epochs = () => stack.sql<{ epoch: number }[]>`select epoch from positions where partition = 'live-2'`
    // Released, and acquired again under a higher epoch.
    await vi.waitUntil(async () => ((await epochs())[0]?.epoch ?? 0) >= 3, soon)
    expect(performance.now() - began).toBeLessThan(atLoad(10_000))
  })

  it('are announced for nearly as long as their leases last', async () => {
    const leaseMs = 60_000
    const worker = lab.worker('a', { leaseMs })
    await vi.waitUntil(() => worker.running().length === 6, soon)
    const [seconds] = await lab.redis.time()
    const until = Number(await lab.redis.zscore(workersKey(PARTITION_KINDS), 'a'))
    const announcedMs = until - Number(seconds) * 1000
    expect(announcedMs).toBeGreaterThan(leaseMs * 0.8)
    expect(announcedMs).toBeLessThan(leaseMs)
  })

  it('are live from an announcement until it ends, or until they leave', async () => {
    const me = { owner: 'a', kinds: URGENT_KINDS }
    const until = async () => Number(await lab.redis.zscore(workersKey(URGENT_KINDS), 'a'))
    expect(await announceWorker(lab.redis, me, 4000)).toEqual(['a'])
    const first = await until()
    expect((await announceWorker(lab.redis, { ...me, owner: 'b' }, 300)).toSorted()).toEqual(['a', 'b'])
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await announceWorker(lab.redis, me, 4000)).toEqual(['a'])
    expect(await until()).toBeGreaterThan(first)
    // Its clock has been set back since.
    await lab.redis.zadd(workersKey(URGENT_KINDS), first + 3_600_000, 'a')
    await announceWorker(lab.redis, me, 4000)
    expect(await until()).toBeLessThan(first + 60_000)
    expect(await announceWorker(lab.redis, me, 0)).toEqual([])
  })

  it('share nothing with one that was announced before the clock was set back', async () => {
    await lab.redis.zadd(workersKey(PARTITION_KINDS), Date.now() + 3_600_000, 'gone')
    const alone = lab.worker('a')
    await vi.waitUntil(() => alone.running().length === 6, soon)
  })

  it('have their partitions back at once when they restart under the same name', async () => {
    for (const partition of allPartitions(2)) await acquireLease(stack.sql, partition, 'me', 60_000)
    const restarted = lab.worker('me', { leaseMs: 60_000 })
    await vi.waitUntil(() => restarted.running().length === 6, { timeout: PATIENCE_MS, interval: 5 })
  })

  it('stop all their loops and say so when one dies', async () => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 50 })
    const worker = lab.worker('a', { apply: () => Promise.reject(new Error('a fault of ours')) })
    const [death] = await Promise.all([
      worker.done.catch((error: unknown) => error),
      frontDoor.submit(event('r', businessOf('live-0'))),
    ])
    expect(death).toMatchObject({ message: 'The loop of live-0 died.', cause: { message: 'a fault of ours' } })
    expect(worker.running()).toEqual([])
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(2).toSorted())
  })

  it('stop the work of a loop that counts as dead', async () => {
    const applying = Promise.withResolvers<AbortSignal>()
    // With this partition only: the end of another loop would stop it as well.
    await acquireLease(stack.sql, 'live-1', 'b', 60_000)
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 50 })
    const worker = lab.worker('a', {
      kinds: URGENT_KINDS,
      apply(_batch, signal) {
        applying.resolve(signal)
        return new Promise(() => undefined)
      },
    })
    void frontDoor.submit(event('r', businessOf('live-0')))
    const signal = await applying.promise
    // Postgres must have answered before.
    const before = await endOf('live-0')
    await vi.waitUntil(async () => (await endOf('live-0')) > before, soon)
    const now = performance.now.bind(performance)
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
    const death = await worker.done.catch((error: unknown) => error)
    later.mockRestore()
    expect(death).toMatchObject({ cause: { message: expect.stringContaining('has made no progress') as string } })
    expect(signal.aborted).toBe(true)
  })
})
