/** How front doors write to streams: groups, limits, lost replies (design, promises 2 and 7). */
import { setImmediate as nextTick } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Entry } from '../../src/stream/entry.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { unpackText } from '../../src/stream/pack-text.ts'
import { allPartitions, partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { compareIds } from '../../src/stream/stream-id.ts'
import { trim } from '../../src/stream/consume/trim.ts'
import { openStack } from '../support/stack.ts'
import { type OwnRedis, startLag, startOwnRedis, startProxy } from './own-redis.ts'
import { type IngestLab, batchOf, businessOf, bytesOf, event, numbered, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

const queueOnly = { wait: false }
const entriesOf = async (partition: string, { redis } = lab): Promise<{ id: string; entry: Entry }[]> => {
  const entries = (await redis.xrangeBuffer(streamKey(partition), '-', '+')) as [Buffer, [Buffer, Buffer]][]
  return entries.map(([id, [, entry]]) => ({ id: id.toString(), entry: JSON.parse(unpackText(entry)) as Entry }))
}

describe('the partition of a request', () => {
  it('never changes for a business and kind', () => {
    expect(partitionOf('live', '018f3a2e-0000-7000-8000-000000000001', 16)).toBe('live-5')
    expect(partitionOf('backfill', '018f3a2e-0000-7000-8000-000000000001', 16)).toBe('backfill-5')
  })
  it('is one of the existing partitions', () => {
    const used = new Set(numbered('business-', 1000).map((id) => partitionOf('live', id, 4)))
    expect([...used].toSorted()).toEqual(allPartitions(4).filter((name) => name.startsWith('live')))
  })
})

describe('a group', () => {
  it('carries the requests of one tick, per partition and in order', async () => {
    const frontDoor = await lab.frontDoor()
    const [zero, one] = [businessOf('live-0'), businessOf('live-1')]
    const ids = numbered('r', 6)
    await Promise.all(ids.map((id, at) => frontDoor.submit(event(id, at % 2 === 0 ? zero : one), queueOnly)))
    const groups = await Promise.all(['live-0', 'live-1'].map((partition) => entriesOf(partition)))
    expect(
      groups.map((entries) => entries.map(({ entry }) => entry.requests.map(({ requestId }) => requestId))),
    ).toEqual([[['r0', 'r2', 'r4']], [['r1', 'r3', 'r5']]])
  })
  it('closes at a thousand events', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    await Promise.all(numbered('r', 1001).map((id) => frontDoor.submit(event(id, business), queueOnly)))
    const sizes = (await entriesOf('live-0')).map(({ entry }) => entry.requests.length)
    expect(sizes).toEqual([1000, 1])
  })
  it('closes at a mebibyte', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    await Promise.all(numbered('r', 5).map((id) => frontDoor.submit(event(id, business, 300_000), queueOnly)))
    const sizes = (await entriesOf('live-0')).map(({ entry }) => entry.requests.length)
    expect(sizes).toEqual([3, 2])
  })
  it('takes no more room in Redis than its packed form, and counts with that size', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    await frontDoor.submit(event('large', business, 300_000), queueOnly)
    expect(await lab.redis.memory('USAGE', streamKey('live-0'))).toBeLessThan(30_000)
    expect(Number((await lab.backlog('live-0'))['total'])).toBeGreaterThan(300_000)
    lab.worker('a')
    await vi.waitUntil(async () => (await lab.applied()).length === 1, { timeout: PATIENCE_MS, interval: 5 })
    expect(await lab.applied()).toEqual(['large'])
  })
  it('gathers requests of its partition that come while the group before is on its way', async () => {
    const lag = await startLag(new URL(stack.redisUrl))
    const frontDoor = await lab.frontDoor({ publishUrl: lag.url })
    const [zero, one] = [businessOf('live-0'), businessOf('live-1')]
    lag.hold()
    const submitted = [frontDoor.submit(event('first', zero), queueOnly)]
    await vi.waitUntil(async () => (await entriesOf('live-0')).length === 1, { timeout: PATIENCE_MS })
    for (const id of ['second', 'third']) {
      submitted.push(frontDoor.submit(event(id, zero), queueOnly))
      await nextTick()
    }
    submitted.push(frontDoor.submit(event('beside', one), queueOnly))
    await vi.waitUntil(async () => (await entriesOf('live-1')).length === 1, { timeout: PATIENCE_MS })
    expect(await entriesOf('live-0')).toHaveLength(1)
    lag.letAllThrough()
    expect((await Promise.all(submitted)).map(({ kind }) => kind)).toEqual(Array.from({ length: 4 }, () => 'queued'))
    const groups = (await entriesOf('live-0')).map(({ entry }) => entry.requests.map((r) => r.requestId))
    expect(groups).toEqual([['first'], ['second', 'third']])
    await lag.close()
  })
  it('that gathered is appended before the front door is closed', async () => {
    const lag = await startLag(new URL(stack.redisUrl))
    const frontDoor = await lab.frontDoor({ publishUrl: lag.url })
    lag.hold()
    const submitted = [frontDoor.submit(event('first', businessOf('live-0')), queueOnly)]
    await vi.waitUntil(async () => (await entriesOf('live-0')).length === 1, { timeout: PATIENCE_MS })
    submitted.push(frontDoor.submit(event('second', businessOf('live-0')), queueOnly))
    const closed = frontDoor.close()
    lag.letAllThrough()
    expect((await Promise.all(submitted)).map(({ kind }) => kind)).toEqual(['queued', 'queued'])
    await closed
    await lag.close()
  })
  it('never holds a batch, which is an entry by itself beside the live ones', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-1')
    const requests = [event('live', business), batchOf('past-1', business, 3), batchOf('past-2', business, 2)]
    await Promise.all(requests.map((request) => frontDoor.submit(request, queueOnly)))
    expect(await entriesOf('live-1')).toHaveLength(1)
    expect((await entriesOf('backfill-1')).map(({ entry }) => entry.requests.map((r) => r.requestId))).toEqual([
      ['past-1'],
      ['past-2'],
    ])
  })
})

describe('the floor', () => {
  const ahead = '99999999999999-7'

  it('lifts ids over the committed position when the clock is behind it', async () => {
    await stack.sql`update positions set position = ${ahead} where partition = 'live-0'`
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    await frontDoor.submit(event('first', business), queueOnly)
    await frontDoor.submit(event('second', business), queueOnly)
    const entries = await entriesOf('live-0')
    expect(entries.map(({ entry }) => entry.requests[0]?.requestId)).toEqual(['first', 'second'])
    for (const { id } of entries) expect(compareIds(id, ahead)).toBeGreaterThan(0)
    expect(Object.values(await lab.backlog('live-0')).map(Number)).toEqual(
      Array.from({ length: 2 }, () => expect.any(Number) as number),
    )
  })
})

describe('the backlog', () => {
  it('counts bytes per business and in all, exactly', async () => {
    const frontDoor = await lab.frontDoor()
    const [mine, theirs] = [businessOf('live-0'), businessOf('live-0')]
    const requests = [event('a', mine, 10), event('bb', mine, 2000), event('ccc', theirs, 300)]
    for (const request of requests) await frontDoor.submit(request, queueOnly)
    const [a = 0, b = 0, c = 0] = requests.map((request, at) => bytesOf(request, at + 1))
    expect(await lab.backlog('live-0')).toEqual({ [mine]: `${a + b}`, [theirs]: `${c}`, total: `${a + b + c}` })

    const [first, second] = await entriesOf('live-0')
    await trim(lab.redis, 'live-0', second?.id ?? '')
    expect((await entriesOf('live-0')).length).toBe(1)
    expect(await lab.backlog('live-0')).toEqual({ [theirs]: `${c}`, total: `${c}` })
    await trim(lab.redis, 'live-0', first?.id ?? '')
    expect((await entriesOf('live-0')).length).toBe(1)
    await trim(lab.redis, 'live-0', '99999999999999-0')
    expect(await entriesOf('live-0')).toEqual([])
    expect(await lab.backlog('live-0')).toEqual({})
  })

  it('past a quarter for one business refuses only that one, until it has gone down', async () => {
    const frontDoor = await lab.frontDoor({ backlogLimitBytes: 400_000 })
    const [greedy, modest] = [businessOf('live-0'), businessOf('live-0')]
    const submit = (business: string) => frontDoor.submit(event('r', business, 30_000), queueOnly)
    const kinds = [await submit(greedy), await submit(greedy), await submit(greedy), await submit(greedy)].map(
      (s) => s.kind,
    )
    expect(kinds).toEqual(['queued', 'queued', 'queued', 'unavailable'])
    expect(await submit(modest)).toEqual({ kind: 'queued' })

    const refusals = await Promise.all(
      numbered('r', 1000).map((id) => frontDoor.submit(event(id, greedy, 30_000), queueOnly)),
    )
    expect(new Set(refusals.map((refusal) => refusal.kind))).toEqual(new Set(['unavailable']))

    await trim(lab.redis, 'live-0', '99999999999999-0')
    await vi.waitUntil(async () => (await submit(greedy)).kind === 'queued', { timeout: PATIENCE_MS, interval: 20 })
  })

  it('past its limit refuses everyone, in every front door, until it has gone down', async () => {
    const frontDoors = [
      await lab.frontDoor({ backlogLimitBytes: 200_000 }),
      await lab.frontDoor({ backlogLimitBytes: 200_000 }),
    ]
    const submit = async (at: number) =>
      (await frontDoors[at % 2]?.submit(event(`r${at}`, businessOf('live-0'), 30_000), queueOnly))?.kind
    const kinds: unknown[] = []
    for (let at = 0; at < 14; at += 1) kinds.push(await submit(at))
    expect(kinds.filter((kind) => kind === 'queued')).toHaveLength(7)
    expect(kinds.slice(-4)).toEqual(Array.from({ length: 4 }, () => 'unavailable'))
    expect(Number((await lab.backlog('live-0'))['total'])).toBeLessThan(250_000)
    expect((await frontDoors[0]?.submit(event('other', businessOf('live-1')), queueOnly))?.kind).toBe('queued')

    await trim(lab.redis, 'live-0', '99999999999999-0')
    await vi.waitUntil(async () => (await submit(0)) === 'queued', { timeout: PATIENCE_MS, interval: 20 })
  })

  it('counts what is still on its way', async () => {
    const frontDoor = await lab.frontDoor({ backlogLimitBytes: 400_000 })
    const business = businessOf('live-0')
    const submitted = await Promise.all(
      numbered('r', 10).map((id) => frontDoor.submit(event(id, business, 30_000), queueOnly)),
    )
    expect(submitted.filter(({ kind }) => kind === 'queued')).toHaveLength(3)
  })
})

describe('requests in flight', () => {
  it('are limited; past the limit, a refusal costs microseconds', async () => {
    const frontDoor = await lab.frontDoor({ maxInFlight: 50, answerTimeoutMs: 300 })
    const business = businessOf('live-0')
    const waiting = numbered('r', 50).map((id) => frontDoor.submit(event(id, business)))
    const began = performance.now()
    const refused = await Promise.all(numbered('x', 1000).map((id) => frontDoor.submit(event(id, business))))
    expect(performance.now() - began).toBeLessThan(atLoad(1000))
    expect(refused.every(({ kind }) => kind === 'unavailable')).toBe(true)
    await Promise.all(waiting)
    expect((await frontDoor.submit(event('again', business), queueOnly)).kind).toBe('queued')
  })
})

describe('a broken connection', () => {
  it('during the append leaves the outcome of that group alone unknown, and sends nothing twice', async () => {
    const proxy = await startProxy(new URL(stack.redisUrl))
    try {
      const frontDoor = await lab.frontDoor({ publishUrl: proxy.url })
      const business = businessOf('live-0')
      expect((await frontDoor.submit(event('before', business), queueOnly)).kind).toBe('queued')
      proxy.loseNextReply()
      const lost = await Promise.all(['one', 'two'].map((id) => frontDoor.submit(event(id, business), queueOnly)))
      expect(lost.map(({ kind }) => kind)).toEqual(['outcome_unknown', 'outcome_unknown'])
      await vi.waitUntil(() => frontDoor.isOpen(), { timeout: PATIENCE_MS, interval: 5 })
      expect((await frontDoor.submit(event('after', business), queueOnly)).kind).toBe('queued')
      const requests = (await entriesOf('live-0')).flatMap(({ entry }) => entry.requests.map((r) => r.requestId))
      expect(requests).toEqual(['before', 'one', 'two', 'after'])
    } finally {
      await proxy.close()
    }
  })

  describe('with a Redis of its own', () => {
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

    it('refuses while Redis is away, fast, and takes requests again by itself', async () => {
      const frontDoor = await own.frontDoor()
      await redis.kill()
      await vi.waitUntil(() => !frontDoor.isOpen(), { timeout: PATIENCE_MS, interval: 2 })
      const began = performance.now()
      const refused = await frontDoor.submit(event('away', businessOf('live-0')), queueOnly)
      expect(refused).toEqual({ kind: 'unavailable', retryAfter: 1 })
      expect(performance.now() - began).toBeLessThan(atLoad(500))
      await redis.start()
      await vi.waitUntil(() => frontDoor.isOpen(), { timeout: PATIENCE_MS, interval: 5 })
      expect((await frontDoor.submit(event('back', businessOf('live-0')), queueOnly)).kind).toBe('queued')
    })

    it('disconnects from a Redis that became a replica, to find its successor', async () => {
      const frontDoor = await own.frontDoor()
      const clients = async () => String(await own.redis.client('LIST')).split('\n')
      const publisher = async () =>
        (await clients()).find((line) => line.includes('name=sluice-publish'))?.split(' ')[0]
      const before = await publisher()
      await own.redis.replicaof('127.0.0.1', 1)
      expect((await frontDoor.submit(event('during', businessOf('live-0')), queueOnly)).kind).toBe('unavailable')
      await vi.waitUntil(async () => ![before, undefined].includes(await publisher()), {
        timeout: PATIENCE_MS,
        interval: 20,
      })
      await own.redis.replicaof('NO', 'ONE')
      const again = async () =>
        (await frontDoor.submit(event('after', businessOf('live-0')), queueOnly)).kind === 'queued'
      await vi.waitUntil(again, { timeout: PATIENCE_MS, interval: 20 })
    })

    it('refuses once when Redis has forgotten the script, and keeps the order', async () => {
      const frontDoor = await own.frontDoor()
      const business = businessOf('live-0')
      await frontDoor.submit(event('before', business), queueOnly)
      await own.redis.script('FLUSH')
      const during = await Promise.all(['one', 'two'].map((id) => frontDoor.submit(event(id, business), queueOnly)))
      expect(during.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable'])
      await vi.waitUntil(() => frontDoor.isOpen(), { timeout: PATIENCE_MS, interval: 2 })
      await frontDoor.submit(event('after', business), queueOnly)
      const requests = (await entriesOf('live-0', own)).flatMap(({ entry }) => entry.requests.map((r) => r.requestId))
      expect(requests).toEqual(['before', 'after'])
    })

    it('reads the floors again before it appends to a Redis that came back empty', async () => {
      const frontDoor = await own.frontDoor()
      const business = businessOf('live-0')
      await frontDoor.submit(event('lost', business), queueOnly)
      await redis.kill()
      await redis.empty()
      await stack.sql`update positions set position = '99999999999999-7' where partition = 'live-0'`
      await redis.start()
      await vi.waitUntil(() => frontDoor.isOpen(), { timeout: PATIENCE_MS, interval: 1 })
      await frontDoor.submit(event('kept', business), queueOnly)
      const [entry] = await own.redis.xrange(streamKey('live-0'), '-', '+')
      expect(compareIds(entry?.[0] ?? '', '99999999999999-7')).toBeGreaterThan(0)
    })
  })
})
