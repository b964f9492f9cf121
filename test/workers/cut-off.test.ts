// @long
/** A worker that gets no answers from Redis releases its partitions, and takes none until it can read again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { allPartitions } from '../../src/stream/partitions/partition-of.ts'
import { unownedPartitions } from '../../src/stream/partitions/positions.ts'
import { rebalanceLeases } from '../../src/stream/leases/rebalance-leases.ts'
import type { IngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import type { Health } from '../../src/stream/consume/watch-loops.ts'
import { type CuttingProxy, openCuttingProxy } from '../faults/cutting-proxy.ts'
import { openStack } from '../support/stack.ts'
import { type IngestLab, businessOf, event, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
let proxy: CuttingProxy
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
  proxy = await openCuttingProxy(stack.redisUrl)
})
afterEach(async () => {
  proxy.mend()
  await lab.close()
  await proxy.close()
})

const LEASE_MS = 3000
/** In ms. So long that another worker gets the partitions only because this one suspends its leases. */
const LONG_LEASE_MS = 20_000
const soon = { timeout: PATIENCE_MS, interval: 10 }
const untilShared = (one: IngestLoops, other: IngestLoops) =>
  vi.waitUntil(() => one.running().length === 3 && other.running().length === 3, soon)
const epochs = () =>
  stack.sql<{ partition: string; epoch: number }[]>`select partition, epoch from positions order by partition`
/** Returns the expected epochs when these partitions have changed owners once, and the others have not. */
const afterMove = (before: Awaited<ReturnType<typeof epochs>>, partitions: string[]) =>
  before.map(({ partition, epoch }) => ({ partition, epoch: epoch + Number(partitions.includes(partition)) }))

describe('a worker that is cut off from Redis alone', () => {
  it.each([
    ['refuses', 'refuse', 'all'],
    ['hangs', 'hang', 'all'],
    ['answers commands but no reads', 'hang', 'reads'],
    ['answers reads but no commands', 'hang', 'commands'],
  ] as const)('which %s is replaced within five seconds, and reports it', async (_, how, what) => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 20_000 })
    let health: Health = {}
    const cut = lab.worker('cut', {
      leaseMs: LEASE_MS,
      ...(what !== 'reads' && { commandUrl: proxy.url }),
      ...(what !== 'commands' && { readUrl: proxy.url }),
      onHealth: (now) => (health = now),
    })
    const well = lab.worker('well', { leaseMs: LEASE_MS })
    await untilShared(cut, well)
    const submitted: string[] = []
    const submitTo = async (partition: string) => {
      const name = `r${submitted.length}`
      submitted.push(name)
      return await frontDoor.submit(event(name, businessOf(partition)))
    }
    const held = cut.running()
    const live = held.find((partition) => partition.startsWith('live'))
    if (live === undefined) throw new Error('it has no live partition')
    expect((await submitTo(live)).kind).toBe('answered')
    const atFirst = await epochs()

    proxy.cut(how)
    const began = performance.now()
    await vi.waitUntil(() => well.running().length === 6, soon)
    expect(performance.now() - began).toBeLessThan(5000)
    expect((await submitTo(live)).kind).toBe('answered')
    await vi.waitUntil(() => health.blocked?.startsWith('redis: it does not answer this worker'), soon)
    await vi.waitUntil(() => cut.running().length === 0, soon)
    // It does not take them back, and the other worker releases none for it.
    await sleep(3000)
    expect(well.running()).toHaveLength(6)
    expect(await epochs()).toEqual(afterMove(atFirst, held))
    expect(await unownedPartitions(stack.sql)).toEqual([])

    proxy.mend()
    await untilShared(cut, well)
    await vi.waitUntil(() => health.blocked === undefined, soon)
    for (const partition of ['live-0', 'live-1']) expect((await submitTo(partition)).kind).toBe('answered')
    expect((await lab.applied()).toSorted()).toEqual(submitted.toSorted())
  })
})

it('a worker that lost its partitions while no command was answered takes none before it can read', async () => {
  let replies = 0
  const commands = await openCuttingProxy(stack.redisUrl, (bytes) => {
    replies += 1
    return bytes
  })
  try {
    let health: Health = {}
    const cut = lab.worker('cut', {
      leaseMs: LONG_LEASE_MS,
      cutOffMs: LEASE_MS,
      commandUrl: commands.url,
      readUrl: proxy.url,
      onHealth: (now) => (health = now),
    })
    const well = lab.worker('well', { leaseMs: LONG_LEASE_MS })
    await untilShared(cut, well)
    const moved = afterMove(await epochs(), cut.running())
    // Its announcement is being sent during the whole time in which its loops are cut off and end.
    for (const one of [commands, proxy]) one.cut('hang')
    await vi.waitUntil(() => cut.running().length === 0 && well.running().length === 6, soon)
    commands.mend()
    replies = 0
    await vi.waitUntil(() => replies > 12, { timeout: PATIENCE_MS, interval: 10 })
    expect(await epochs()).toEqual(moved)
    expect(health.blocked).toMatch('redis: it does not answer this worker (no partition)')
    proxy.mend()
    await untilShared(cut, well)
    await vi.waitUntil(() => health.blocked === undefined, soon)
  } finally {
    await commands.close()
  }
})

it('a worker keeps its partitions through a silence that is shorter than its lease', async () => {
  const through = { leaseMs: LONG_LEASE_MS, commandUrl: proxy.url, readUrl: proxy.url }
  let health: Health = {}
  const cut = lab.worker('cut', { ...through, onHealth: (now) => (health = now) })
  const well = lab.worker('well', { leaseMs: LONG_LEASE_MS })
  await untilShared(cut, well)
  const before = await epochs()
  proxy.cut('hang')
  await sleep(6000)
  expect(await unownedPartitions(stack.sql)).toEqual([])
  expect(health.blocked).toBeUndefined()
  proxy.mend()
  const frontDoor = await lab.frontDoor({ answerTimeoutMs: 20_000 })
  for (const partition of ['live-0', 'live-1'])
    expect((await frontDoor.submit(event(partition, businessOf(partition)))).kind).toBe('answered')
  expect(await epochs()).toEqual(before)
})

describe('all workers cut off from Redis', () => {
  it.each(['refuse', 'hang'] as const)('go on as they were when it is back (%s)', async (how) => {
    // On a busy machine, one worker may come back much later than the other.
    const through = { leaseMs: LEASE_MS, returnGraceMs: 60_000, commandUrl: proxy.url, readUrl: proxy.url }
    const [one, other] = [lab.worker('one', through), lab.worker('other', through)]
    const frontDoor = await lab.frontDoor()
    await untilShared(one, other)
    const before = await epochs()
    proxy.cut(how)
    await sleep(8000)
    // No worker took a partition from another.
    expect([one.running().length, other.running().length]).toEqual([3, 3])
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(2).toSorted())
    proxy.mend()
    for (const partition of ['live-0', 'live-1']) {
      expect((await frontDoor.submit(event(partition, businessOf(partition)))).kind).toBe('answered')
    }
    await vi.waitUntil(async () => (await unownedPartitions(stack.sql)).length === 0, soon)
    expect(await epochs()).toEqual(before)
  })
})

it('a worker that has suspended a lease gets no share', () => {
  const holders = allPartitions(1).map((partition) => ({ partition, owner: null, suspendedBy: 'cut' }))
  const { acquire } = rebalanceLeases({ me: 'well', workers: ['cut', 'well'], holders, running: new Set() })
  expect(acquire.toSorted()).toEqual(allPartitions(1).toSorted())
})
