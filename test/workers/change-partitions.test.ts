/** Other partitions under load: nothing is lost, nothing doubled, and the order of a business is kept. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { fenceKey, streamKey } from '../../src/stream/keys.ts'
import { acquireLease, renewLease } from '../../src/stream/lease.ts'
import { allPartitions, partitionOf } from '../../src/stream/partition-of.ts'
import { readRoad } from '../../src/stream/partition-map.ts'
import { unattendedPartitions } from '../../src/stream/positions.ts'
import { type Stack, openStack } from '../support/stack.ts'
import {
  change,
  checkApplied,
  openGated,
  queueOnly,
  rowsThere,
  soon,
  startCaller,
  untilEmpty,
} from './changing-partitions.ts'
import { type Road, applyOnce, batchOf, businessOf, event, openRoad } from './ingest-lab.ts'

let stack: Stack
let road: Road
beforeAll(async () => {
  stack = await openStack()
})
afterAll(() => stack.close())
beforeEach(async () => {
  road = await openRoad(stack.sql, stack.redisUrl)
})
afterEach(() => road.close())

describe('a change of the number of partitions', () => {
  it(
    'is made under load: what was taken is applied once, in the order of its business',
    { timeout: 60_000 },
    async () => {
      const doors = [await road.door(), await road.door()]
      const workers = ['a', 'b'].map((name) => road.worker(name, { leaseMs: 60_000 }))
      const callers = doors.flatMap((door) =>
        [1, 2, 3].flatMap(() => [startCaller(door, 'live'), startCaller(door, 'batch')]),
      )
      for (const to of [5, 1, 3]) {
        expect(await change(road, to)).toMatchObject({ kind: 'changed' })
        expect(await rowsThere(road)).toEqual(allPartitions(to).toSorted())
        await sleep(100)
      }
      const promised = await Promise.all(callers.map((caller) => caller.stop()))
      expect(Math.min(...promised.map((taken) => taken.length))).toBeGreaterThan(5)
      await checkApplied(road, promised)
      await vi.waitUntil(() => workers.flatMap((worker) => worker.running()).length === 9, soon)
      expect(workers.flatMap((worker) => worker.running()).toSorted()).toEqual(allPartitions(3).toSorted())
    },
  )

  it('keeps the order of requests that a door sends without waiting', { timeout: 30_000 }, async () => {
    const door = await road.door()
    road.worker('a')
    const business = businessOf('live-0')
    const sent: Promise<{ id: string; kind: string }>[] = []
    const changed = change(road, 6)
    let isOver = false
    void changed.finally(() => (isOver = true))
    for (let at = 0; !isOver || at < 50; at += 1) {
      const id = `r${at}`
      sent.push(door.submit(event(id, business)).then(({ kind }) => ({ id, kind })))
      await sleep(1)
    }
    const all = await Promise.all(sent)
    const taken = all.filter(({ kind }) => kind !== 'unavailable').map(({ id }) => id)
    await untilEmpty(road)
    expect(await road.applied()).toEqual(taken)
    expect(await changed).toEqual({ kind: 'changed', previous: 2 })
  })

  it('reaches a door that had nothing to send all the while', async () => {
    const door = await road.door()
    road.worker('a')
    const business = businessOf('live-1')
    for (const to of [1, 4, 3]) {
      await change(road, to)
      const id = `after ${to}`
      expect((await door.submit(event(id, business))).kind).toBe('answered')
      expect(await road.applied(partitionOf('live', business, to))).toContain(id)
    }
    expect(await road.applied()).toEqual(['after 1', 'after 4', 'after 3'])
  })

  it('leaves nothing for the partitions that are gone, and lets their loops end', async () => {
    const door = await road.door()
    const worker = road.worker('a', { leaseMs: 60_000 })
    await change(road, 3)
    await vi.waitUntil(() => worker.running().length === 9, soon)
    await door.submit(event('r', businessOf('live-2', 3)))
    await change(road, 1)
    await vi.waitUntil(() => worker.running().length === 3, soon)
    expect(worker.running()).toEqual(['backfill-0', 'live-0', 'web-0'])
    expect(await road.length('live-2')).toBe(0)
    expect(await road.backlog('live-2')).toEqual({})
    expect((await door.submit(event('s', businessOf('live-2', 3)))).kind).toBe('answered')
  })

  it('tells a caller whose answer was lost that its request was kept, also when the partition is gone', async () => {
    const door = await road.door({ answerTimeoutMs: 1500 })
    road.worker('a', {
      apply: async (batch) => ({ ...(await applyOnce(stack.sql, batch)), kind: 'applied', answers: [] }),
    })
    const submitted = door.submit(event('r', businessOf('live-1')))
    await vi.waitUntil(async () => (await road.applied()).length === 1, soon)
    expect(await change(road, 1)).toMatchObject({ kind: 'changed' })
    expect(await submitted).toEqual({ kind: 'queued' })
  })

  it('finds itself done already', async () => {
    expect(await change(road, 2)).toEqual({ kind: 'unchanged' })
    expect((await readRoad(stack.sql)).version).toBe((await readRoad(stack.sql)).version)
  })

  it('needs nobody when nothing waits', async () => {
    expect(await change(road, 4)).toEqual({ kind: 'changed', previous: 2 })
    expect(await rowsThere(road)).toEqual(allPartitions(4).toSorted())
    // They are not missed at once: workers have a moment to find them.
    expect(await unattendedPartitions(stack.sql)).toEqual([])
    await stack.sql`update positions set made_at = made_at - interval '5 seconds'`
    expect(await unattendedPartitions(stack.sql)).toEqual(allPartitions(4).toSorted())
  })

  it('begins nothing while requests wait that nobody works on', async () => {
    const door = await road.door()
    await door.submit(event('r', businessOf('live-1')), queueOnly)
    expect(await change(road, 4)).toEqual({ kind: 'unattended', waiting: '1 in live-1' })
    expect(await readRoad(stack.sql)).toMatchObject({ partitions: 2, change: undefined, closed: new Set() })
    road.worker('a')
    await untilEmpty(road)
    expect(await change(road, 4)).toMatchObject({ kind: 'changed' })
  })

  it('does not wait for what was applied, and left by a worker that died', async () => {
    const door = await road.door()
    await door.submit(event('r', businessOf('live-1')), queueOnly)
    const [entry] = await road.redis.xrange(streamKey('live-1'), '-', '+')
    await stack.sql`update positions set position = ${entry?.[0] ?? ''} where partition = 'live-1'`
    const lease = await acquireLease(stack.sql, 'live-1', 'dying', 60_000)
    expect(await change(road, 1)).toMatchObject({ kind: 'changed' })
    expect(lease && (await renewLease(stack.sql, lease, 60_000))).toBe(false)
  })
})

describe('while requests wait', () => {
  it('batches are refused and live goes on; given up, all is as it was', async () => {
    const door = await road.door()
    const gate = openGated(road, 'backfill')
    const business = businessOf('live-0')
    await door.submit(batchOf('past', business, 2), queueOnly)
    await vi.waitUntil(async () => (await unattendedPartitions(stack.sql)).length === 0, soon)
    const stop = new AbortController()
    const told: string[] = []
    const changing = change(road, 5, { signal: stop.signal, told })
    await vi.waitUntil(() => told.some((text) => text.includes('1 in backfill-0')), soon)
    expect(await door.submit(batchOf('refused', business, 2), queueOnly)).toEqual({
      kind: 'unavailable',
      retryAfter: 1,
    })
    expect((await door.submit(event('live', business))).kind).toBe('answered')
    expect(door.isOpen()).toBe(true)

    stop.abort()
    expect(await changing).toEqual({ kind: 'given_up', waiting: '1 in backfill-0' })
    expect(await rowsThere(road)).toEqual(allPartitions(2).toSorted())
    const again = async () => (await door.submit(batchOf('again', business, 2), queueOnly)).kind === 'queued'
    await vi.waitUntil(again, soon)
    gate.resolve()
    await untilEmpty(road)
    expect(await road.applied()).toEqual(['live', 'past', 'again'])
  })

  it('live is let through again when it cannot be applied in a moment', { timeout: 30_000 }, async () => {
    const door = await road.door()
    const gate = openGated(road, 'live')
    const business = businessOf('live-0')
    await vi.waitUntil(async () => (await unattendedPartitions(stack.sql)).length === 0, soon)
    // Of a clock that is ahead: it never looks old.
    await road.redis.xadd(
      streamKey('live-0'),
      '4000000000000-0',
      'd',
      '{"frontDoor":"nobody","requests":[]}',
      'w',
      '{}',
    )
    const told: string[] = []
    const changing = change(road, 5, { told })
    await vi.waitUntil(() => told.some((text) => text.includes('let through again')), soon)
    const queued = async () => (await door.submit(event('r', business), queueOnly)).kind === 'queued'
    await vi.waitUntil(queued, soon)
    gate.resolve()
    expect(await changing).toMatchObject({ kind: 'changed' })
    await untilEmpty(road)
    expect(await road.applied()).toEqual(['r'])
  })
})

it('live is kept waiting for as long as an operator allows', { timeout: 30_000 }, async () => {
  const door = await road.door()
  const gate = openGated(road, 'live')
  const business = businessOf('live-0')
  await vi.waitUntil(async () => (await unattendedPartitions(stack.sql)).length === 0, soon)
  await door.submit(event('first', business), queueOnly)
  const changing = change(road, 5, { livePauseMs: 600_000 })
  await vi.waitUntil(async () => (await road.redis.exists(fenceKey('live-0'))) === 1, soon)
  expect((await door.submit(event('refused', business))).kind).toBe('unavailable')
  gate.resolve()
  expect(await changing).toMatchObject({ kind: 'changed' })
  expect(await road.applied()).toEqual(['first'])
})

describe('of two commands at once', () => {
  it('one is made, and the other is told or follows', { timeout: 30_000 }, async () => {
    const door = await road.door()
    road.worker('a')
    const callers = [startCaller(door, 'live'), startCaller(door, 'batch')]
    for (let round = 0; round < 4; round += 1) {
      const [three, four] = await Promise.all([change(road, 3), change(road, 4)])
      const kinds = [three.kind, four.kind]
      expect(kinds).toContain('changed')
      for (const kind of kinds) expect(['changed', 'unchanged', 'busy']).toContain(kind)
      const { partitions } = await readRoad(stack.sql)
      expect(await rowsThere(road)).toEqual(allPartitions(partitions).toSorted())
      if (three.kind === 'busy') expect(partitions).toBe(4)
      if (four.kind === 'busy') expect(partitions).toBe(3)
      await change(road, 2)
    }
    await checkApplied(road, await Promise.all(callers.map((caller) => caller.stop())))
  })
})
