// @long
/**
 * Changing the number of partitions under load: nothing is lost or duplicated, and the order of each business is kept.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fenceKey, keptKey, streamKey } from '../../src/stream/keys.ts'
import { acquireLease, renewLease } from '../../src/stream/leases/lease.ts'
import { allPartitions, partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { readPartitionMap } from '../../src/stream/partitions/partition-map.ts'
import { unownedPartitions } from '../../src/stream/partitions/positions.ts'
import { openStack } from '../support/stack.ts'
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
import { type IngestLab, applyOnce, batchOf, businessOf, event, openIngestLab } from './ingest-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

describe('a change of the number of partitions', () => {
  it('is made under load: what was taken is applied once, in the order of its business', async () => {
    const frontDoors = [await lab.frontDoor(), await lab.frontDoor()]
    const workers = ['a', 'b'].map((name) => lab.worker(name, { leaseMs: 60_000 }))
    const callers = frontDoors.flatMap((frontDoor) =>
      [1, 2, 3].flatMap(() => [startCaller(frontDoor, 'live'), startCaller(frontDoor, 'batch')]),
    )
    for (const to of [5, 1, 3]) {
      expect(await change(lab, to)).toMatchObject({ kind: 'changed' })
      expect(await rowsThere(lab)).toEqual(allPartitions(to).toSorted())
      await sleep(100)
    }
    const promised = await Promise.all(callers.map((caller) => caller.stop()))
    expect(Math.min(...promised.map((taken) => taken.length))).toBeGreaterThan(5)
    await checkApplied(lab, promised)
    await vi.waitUntil(() => workers.flatMap((worker) => worker.running()).length === 9, soon)
    expect(workers.flatMap((worker) => worker.running()).toSorted()).toEqual(allPartitions(3).toSorted())
  })

  it('keeps the order of requests that a front door sends without waiting', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const business = businessOf('live-0')
    const sent: Promise<{ id: string; kind: string }>[] = []
    const changed = change(lab, 6)
    let isOver = false
    void changed.finally(() => (isOver = true))
    for (let at = 0; !isOver || at < 50; at += 1) {
      const id = `r${at}`
      sent.push(frontDoor.submit(event(id, business)).then(({ kind }) => ({ id, kind })))
      await sleep(1)
    }
    const all = await Promise.all(sent)
    const taken = all.filter(({ kind }) => kind !== 'unavailable').map(({ id }) => id)
    await untilEmpty(lab)
    expect(await lab.applied()).toEqual(taken)
    expect(await changed).toEqual({ kind: 'changed', previous: 2 })
  })

  it('reaches a front door that had nothing to send meanwhile', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const business = businessOf('live-1')
    for (const to of [1, 4, 3]) {
      await change(lab, to)
      const id = `after ${to}`
      expect((await frontDoor.submit(event(id, business))).kind).toBe('answered')
      expect(await lab.applied(partitionOf('live', business, to))).toContain(id)
    }
    expect(await lab.applied()).toEqual(['after 1', 'after 4', 'after 3'])
  })

  it('leaves nothing for the removed partitions, and lets their loops end', async () => {
    const frontDoor = await lab.frontDoor()
    const worker = lab.worker('a', { leaseMs: 60_000 })
    await change(lab, 3)
    await vi.waitUntil(() => worker.running().length === 9, soon)
    await frontDoor.submit(event('r', businessOf('live-2', 3)))
    await change(lab, 1)
    await vi.waitFor(() => expect(worker.running()).toEqual(['backfill-0', 'live-0', 'web-0']), soon)
    expect(await lab.length('live-2')).toBe(0)
    expect(await lab.backlog('live-2')).toEqual({})
    expect((await frontDoor.submit(event('s', businessOf('live-2', 3)))).kind).toBe('answered')
  })

  it('answers a caller whose answer was lost that its request was kept, also when the partition is gone', async () => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 1500 })
    lab.worker('a', {
      apply: async (batch) => ({ ...(await applyOnce(stack.sql, batch)), kind: 'applied', answers: [] }),
    })
    const submitted = frontDoor.submit(event('r', businessOf('live-1')))
    await vi.waitUntil(async () => (await lab.applied()).length === 1, soon)
    expect(await change(lab, 1)).toMatchObject({ kind: 'changed' })
    expect(await submitted).toEqual({ kind: 'queued' })
  })

  it('finds itself done already', async () => {
    expect(await change(lab, 2)).toEqual({ kind: 'unchanged' })
    expect((await readPartitionMap(stack.sql)).version).toBe((await readPartitionMap(stack.sql)).version)
  })

  it('needs no workers when nothing waits', async () => {
    expect(await change(lab, 4)).toEqual({ kind: 'changed', previous: 2 })
    expect(await rowsThere(lab)).toEqual(allPartitions(4).toSorted())
    // Partitions count as unowned only after a moment, in which workers can find them.
    expect(await unownedPartitions(stack.sql)).toEqual([])
    await stack.sql`update positions set made_at = made_at - interval '5 seconds'`
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(4).toSorted())
  })

  it('does not begin while requests wait that no worker applies', async () => {
    const frontDoor = await lab.frontDoor()
    await frontDoor.submit(event('r', businessOf('live-1')), queueOnly)
    expect(await change(lab, 4)).toEqual({ kind: 'unattended', waiting: '1 in live-1' })
    expect(await readPartitionMap(stack.sql)).toMatchObject({ partitions: 2, change: undefined, closed: new Set() })
    lab.worker('a')
    await untilEmpty(lab)
    expect(await change(lab, 4)).toMatchObject({ kind: 'changed' })
  })

  it('does not wait for what was applied, and left by a worker that died', async () => {
    const frontDoor = await lab.frontDoor()
    await frontDoor.submit(event('r', businessOf('live-1')), queueOnly)
    const [entry] = await lab.redis.xrange(streamKey('live-1'), '-', '+')
    await stack.sql`update positions set position = ${entry?.[0] ?? ''} where partition = 'live-1'`
    const lease = await acquireLease(stack.sql, 'live-1', 'dying', 60_000)
    expect(await change(lab, 1)).toMatchObject({ kind: 'changed' })
    expect(lease && (await renewLease(stack.sql, lease, 60_000))).toBe(false)
  })
})

describe('after Postgres has lost commits', () => {
  const losing = async (field: 'applied' | 'trimmed') => {
    const frontDoor = await lab.frontDoor()
    await frontDoor.submit(event('r', businessOf('live-1')), queueOnly)
    const [entry] = await lab.redis.xrange(streamKey('live-1'), '-', '+')
    await lab.redis.hset(keptKey('live-1'), { [field]: entry?.[0] ?? '', count: 1, bytes: 1 })
  }

  it('waits for what Redis knows as applied, and Postgres has not', async () => {
    await losing('applied')
    expect(await change(lab, 4)).toEqual({ kind: 'unattended', waiting: '1 in live-1' })
    lab.worker('a')
    expect(await change(lab, 4)).toMatchObject({ kind: 'changed' })
    expect(await lab.applied()).toEqual(['r'])
  })

  it('is refused while Redis has deleted what Postgres has not applied', async () => {
    await losing('trimmed')
    await expect(change(lab, 4)).rejects.toThrow('run admin recover')
    expect(await readPartitionMap(stack.sql)).toMatchObject({ partitions: 2, change: undefined, closed: new Set() })
    await lab.redis.del(keptKey('live-1'))
  })
})

describe('while requests wait', () => {
  it('batches are refused and live requests continue; after it is given up, all is as before', async () => {
    const frontDoor = await lab.frontDoor()
    const gate = openGated(lab, 'backfill')
    const business = businessOf('live-0')
    await frontDoor.submit(batchOf('past', business, 2), queueOnly)
    await vi.waitUntil(async () => (await unownedPartitions(stack.sql)).length === 0, soon)
    const stop = new AbortController()
    const reports: string[] = []
    const changing = change(lab, 5, { signal: stop.signal, reports })
    await vi.waitUntil(() => reports.some((text) => text.includes('1 in backfill-0')), soon)
    expect(await frontDoor.submit(batchOf('refused', business, 2), queueOnly)).toEqual({
      kind: 'unavailable',
      retryAfter: 1,
    })
    expect((await frontDoor.submit(event('live', business))).kind).toBe('answered')
    expect(frontDoor.isOpen()).toBe(true)

    stop.abort()
    expect(await changing).toEqual({ kind: 'given_up', waiting: '1 in backfill-0' })
    expect(await rowsThere(lab)).toEqual(allPartitions(2).toSorted())
    const again = async () => (await frontDoor.submit(batchOf('again', business, 2), queueOnly)).kind === 'queued'
    await vi.waitUntil(again, soon)
    gate.resolve()
    await untilEmpty(lab)
    expect(await lab.applied()).toEqual(['live', 'past', 'again'])
  })

  it('live requests are let through again when they cannot be applied within the pause', async () => {
    const frontDoor = await lab.frontDoor()
    const gate = openGated(lab, 'live')
    const business = businessOf('live-0')
    await vi.waitUntil(async () => (await unownedPartitions(stack.sql)).length === 0, soon)
    // An entry from a clock that is ahead: it never seems old.
    await lab.redis.xadd(streamKey('live-0'), '4000000000000-0', 'd', '{"frontDoor":"nobody","requests":[]}', 'w', '{}')
    const reports: string[] = []
    const changing = change(lab, 5, { reports })
    await vi.waitUntil(() => reports.some((text) => text.includes('let through again')), soon)
    const queued = async () => (await frontDoor.submit(event('r', business), queueOnly)).kind === 'queued'
    await vi.waitUntil(queued, soon)
    gate.resolve()
    expect(await changing).toMatchObject({ kind: 'changed' })
    await untilEmpty(lab)
    expect(await lab.applied()).toEqual(['r'])
  })
})

it('live requests wait for as long as an operator allows', async () => {
  const frontDoor = await lab.frontDoor()
  const gate = openGated(lab, 'live')
  const business = businessOf('live-0')
  await vi.waitUntil(async () => (await unownedPartitions(stack.sql)).length === 0, soon)
  await frontDoor.submit(event('first', business), queueOnly)
  const changing = change(lab, 5, { livePauseMs: 600_000 })
  await vi.waitUntil(async () => (await lab.redis.exists(fenceKey('live-0'))) === 1, soon)
  expect((await frontDoor.submit(event('refused', business))).kind).toBe('unavailable')
  gate.resolve()
  expect(await changing).toMatchObject({ kind: 'changed' })
  expect(await lab.applied()).toEqual(['first'])
})

describe('two commands at once', () => {
  it('make one change; the other is refused or made afterwards', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const callers = [startCaller(frontDoor, 'live'), startCaller(frontDoor, 'batch')]
    for (let round = 0; round < 4; round += 1) {
      const [three, four] = await Promise.all([change(lab, 3), change(lab, 4)])
      const kinds = [three.kind, four.kind]
      expect(kinds).toContain('changed')
      for (const kind of kinds) expect(['changed', 'unchanged', 'busy']).toContain(kind)
      const { partitions } = await readPartitionMap(stack.sql)
      expect(await rowsThere(lab)).toEqual(allPartitions(partitions).toSorted())
      if (three.kind === 'busy') expect(partitions).toBe(4)
      if (four.kind === 'busy') expect(partitions).toBe(3)
      await change(lab, 2)
    }
    await checkApplied(lab, await Promise.all(callers.map((caller) => caller.stop())))
  })
})
