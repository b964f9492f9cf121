/** How a front door learns of a new partition map, and how it behaves until then. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { raiseFences } from '../../src/stream/partitions/fence.ts'
import { fenceKey, streamKey } from '../../src/stream/keys.ts'
import { beginChange, cancelChange, readPartitionMap } from '../../src/stream/partitions/partition-map.ts'
import { openStack } from '../support/stack.ts'
import { change, closeAll, queueOnly, soon, untilEmpty } from './changing-partitions.ts'
import { type OwnRedis, startLag, startOwnRedis } from './own-redis.ts'
import { type IngestLab, batchOf, businessOf, bytesOf, event, numbered, openIngestLab } from './ingest-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

describe('a front door', () => {
  it('holds live requests for a moment, then refuses them; batches it refuses at once', async () => {
    const frontDoor = await lab.frontDoor()
    await closeAll(lab)
    const began = performance.now()
    const [held, refused] = await Promise.all([
      frontDoor.submit(event('r', businessOf('live-0'))).then(({ kind }) => [kind, performance.now()] as const),
      frontDoor.submit(batchOf('s', businessOf('live-0'), 1)).then(({ kind }) => [kind, performance.now()] as const),
    ])
    expect([held[0], refused[0]]).toEqual(['unavailable', 'unavailable'])
    expect(held[1] - began).toBeGreaterThan(950)
    expect(refused[1]).toBeLessThan(held[1])
  })

  it('sends what it holds, in order, once it is open again', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const business = businessOf('live-0')
    const ids = numbered('r', 20)
    // On a slow machine, requests may give up before it is open again.
    await vi.waitUntil(async () => {
      const version = await closeAll(lab)
      const held = ids.map((id) => frontDoor.submit(event(id, business)))
      await cancelChange(stack.sql, version)
      return (await Promise.all(held)).every(({ kind }) => kind === 'answered')
    }, soon)
    expect((await lab.applied()).slice(-ids.length)).toEqual(ids)
  })

  it('sends nothing ahead of what a fence has just refused', async () => {
    const lag = await startLag(new URL(stack.redisUrl))
    try {
      const frontDoor = await lab.frontDoor({ publishUrl: lag.url })
      const business = businessOf('live-0')
      const version = await closeAll(lab)
      lag.hold()
      // Too large for one entry: both are in progress at the same time.
      const first = frontDoor.submit(event('first', business, 600_000), queueOnly)
      const second = frontDoor.submit(event('second', business, 600_000), queueOnly)
      await vi.waitUntil(() => lag.held().split('-FENCED').length === 3, soon)
      await cancelChange(stack.sql, version)
      lag.letOneThrough()
      await sleep(100)
      const third = frontDoor.submit(event('third', business), queueOnly)
      await sleep(100)
      lag.letAllThrough()
      const kinds = (await Promise.all([first, second, third])).map(({ kind }) => kind)
      lab.worker('a')
      await untilEmpty(lab)
      const taken = ['first', 'second', 'third'].filter((_, at) => kinds[at] === 'queued')
      expect(await lab.applied()).toEqual(taken)
    } finally {
      await lag.close()
    }
  })

  it('holds as many bytes as fit, and not one more', async () => {
    const [first, second] = [event('a', businessOf('live-0')), event('b', businessOf('live-1'))]
    const both = bytesOf(first, 1) + bytesOf(second, 2)
    const [fits, over] = [
      await lab.frontDoor({ backlogLimitBytes: both }),
      await lab.frontDoor({ backlogLimitBytes: both - 1 }),
    ]
    await closeAll(lab)
    const settled: string[] = []
    for (const [name, frontDoor] of Object.entries({ fits, over })) {
      for (const request of [first, second])
        void frontDoor.submit(request).then(({ kind }) => settled.push(`${name} ${request.requestId} ${kind}`))
    }
    await vi.waitUntil(() => settled.length > 0, soon)
    await sleep(200)
    expect(settled).toEqual(['over b unavailable'])
  })

  it('continues by itself after a command that no longer responds', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    await closeAll(lab)
    await stack.sql`update partitioning set change_until = now() + interval '1 second'`
    expect((await frontDoor.submit(batchOf('past', businessOf('live-0'), 1))).kind).toBe('unavailable')
    await vi.waitUntil(async () => (await frontDoor.submit(event('r', businessOf('live-0')))).kind === 'answered', soon)
    await vi.waitUntil(
      async () => (await frontDoor.submit(batchOf('s', businessOf('live-0'), 1))).kind === 'answered',
      soon,
    )
    expect(await readPartitionMap(stack.sql)).toMatchObject({ partitions: 2, change: undefined })
  })

  it('ends a change that lies ahead of the clock', async () => {
    await beginChange(stack.sql, (await readPartitionMap(stack.sql)).version, 3)
    await stack.sql`update partitioning set change_until = now() + interval '1 hour'`
    expect((await readPartitionMap(stack.sql)).change).toBeUndefined()
  })

  it('gets past a fence that is unknown to a Postgres restored from a backup', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const { version } = await readPartitionMap(stack.sql)
    await lab.redis.set(fenceKey('live-0'), version + 1000)
    expect((await frontDoor.submit(event('r', businessOf('live-0')))).kind).toBe('answered')
    expect((await readPartitionMap(stack.sql)).version).toBe(version + 1000)
  })

  it('that closes while it holds requests refuses them', async () => {
    const frontDoor = await lab.frontDoor()
    await closeAll(lab)
    const held = frontDoor.submit(event('r', businessOf('live-0')))
    await frontDoor.close()
    expect(await held).toEqual({ kind: 'unavailable', retryAfter: 1 })
  })
})

describe('a Redis', () => {
  let redis: OwnRedis
  let own: IngestLab
  beforeEach(async () => {
    redis = await startOwnRedis()
    own = await openIngestLab(stack.sql, redis.url)
  })
  afterEach(async () => {
    await own.close()
    await redis.close()
  })

  it('that loses its fences in the middle lets nothing through', async () => {
    const frontDoor = await own.frontDoor()
    const business = businessOf('live-0')
    const version = (await beginChange(stack.sql, (await readPartitionMap(stack.sql)).version, 3)) ?? 0
    await stack.sql`update partitioning set change_until = now() + interval '30 seconds'`
    await raiseFences(own.redis, ['backfill-0', 'backfill-1'], version, new Map())
    await redis.kill()
    await vi.waitUntil(() => !frontDoor.isOpen(), soon)
    await redis.empty()
    await redis.start()
    await vi.waitUntil(() => frontDoor.isOpen(), soon)
    expect(await own.redis.keys('*fence')).toEqual([])
    expect((await frontDoor.submit(batchOf('past', business, 2), queueOnly)).kind).toBe('unavailable')
    expect((await frontDoor.submit(event('live', business), queueOnly)).kind).toBe('queued')
    expect(await own.length('backfill-0')).toBe(0)
  })

  it('that comes back as it was before a shrinking and a growing repeats nothing', async () => {
    const frontDoor = await own.frontDoor()
    const [zero, one] = [businessOf('live-0'), businessOf('live-1')]
    const old = numbered('old-', 10)
    for (const id of old)
      for (const business of [zero, one]) await frontDoor.submit(event(`${id}${business}`, business), queueOnly)
    const partitions = ['live-0', 'live-1']
    const dumps = await Promise.all(partitions.map((partition) => own.redis.dumpBuffer(streamKey(partition))))
    own.worker('a')
    await untilEmpty(own)
    await change(own, 1)
    const restore = async () => {
      for (const [at, partition] of partitions.entries())
        await own.redis.restore(streamKey(partition), 0, dumps[at] ?? '', 'REPLACE')
      for (const partition of partitions) await own.redis.del(fenceKey(partition))
    }
    await restore()
    await change(own, 2)
    expect((await frontDoor.submit(event('between', one))).kind).toBe('answered')
    await change(own, 1)
    await change(own, 2)
    await restore()
    own.worker('b')
    expect((await frontDoor.submit(event('after', one))).kind).toBe('answered')
    await untilEmpty(own)
    expect((await own.applied()).length).toBe(old.length * 2 + 2)
  })
})
