/** Trimming has a pace of its own: entries that were passed leave the stream, but not with each micro-batch. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { raiseFences } from '../../src/stream/partitions/fence.ts'
import { readKept } from '../../src/stream/consume/kept.ts'
import { backlogKey, keptKey, streamKey } from '../../src/stream/keys.ts'
import { createTrimmer, trim } from '../../src/stream/consume/trim.ts'
import { openStack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const PARTITION = 'live-0'
const soon = { timeout: PATIENCE_MS, interval: 5 }

const stack = useOpened(openStack)

const ids = ['1-1', '2-1', '3-1', '4-1']
beforeEach(async () => {
  for (const id of ids) await stack.redis.xadd(streamKey(PARTITION), id, 'd', '{}', 'w', '{"business":10}')
  await stack.redis.hset(backlogKey(PARTITION), { business: 40, total: 40 })
})
afterEach(() => stack.redis.del(streamKey(PARTITION), backlogKey(PARTITION), keptKey(PARTITION), 'aside'))

const waiting = async () => (await stack.redis.xrange(streamKey(PARTITION), '-', '+')).map(([id]) => id)
const open = (report: (error: unknown) => void = () => undefined) => createTrimmer(stack.redis, PARTITION, report)
it('trims entries passed at about the same time together, up to the last position and no further', async () => {
  const trimmer = open()
  trimmer.trimSoon('1-1')
  await vi.waitUntil(async () => (await waiting()).length === 3, soon)
  const asked = vi.spyOn(stack.redis, 'evalsha')
  trimmer.trimSoon('2-1')
  trimmer.trimSoon('3-1')
  expect(await waiting()).toEqual(['2-1', '3-1', '4-1'])
  await vi.waitUntil(async () => (await waiting()).length === 1, soon)
  expect(await waiting()).toEqual(['4-1'])
  expect(await stack.redis.hgetall(backlogKey(PARTITION))).toEqual({ business: '10', total: '10' })
  expect(asked).toHaveBeenCalledTimes(1)
  asked.mockRestore()
})

it('trims at once what is due when it ends', async () => {
  const trimmer = open()
  trimmer.trimSoon('4-1')
  await trimmer.finish()
  expect(await waiting()).toEqual([])
  expect(await stack.redis.exists(backlogKey(PARTITION))).toBe(0)
})

it('has nothing to do when nothing was passed', async () => {
  await open().finish()
  expect(await waiting()).toEqual(ids)
})

it('reports a failure, and the next trim makes up for it', async () => {
  const reports: unknown[] = []
  const trimmer = open((error) => reports.push(error))
  await stack.redis.rename(streamKey(PARTITION), 'aside')
  await stack.redis.set(streamKey(PARTITION), 'no stream')
  trimmer.trimSoon('1-1')
  await vi.waitUntil(() => reports.length === 1, soon)
  expect(reports[0]).toBeInstanceOf(Error)
  await stack.redis.rename('aside', streamKey(PARTITION))
  trimmer.trimSoon('2-1')
  await trimmer.finish()
  expect(await waiting()).toEqual(['3-1', '4-1'])
})

it('keeps entries for a while after they were passed: they are no backlog', async () => {
  const trimmer = createTrimmer(stack.redis, PARTITION, () => undefined, { ms: 1500, bytes: 1000 })
  trimmer.trimSoon('3-1')
  await vi.waitUntil(async () => (await readKept(stack.redis, PARTITION)).applied === '3-1', soon)
  expect(await waiting()).toEqual(ids)
  expect(await stack.redis.hgetall(backlogKey(PARTITION))).toEqual({ business: '10', total: '10' })
  expect(await readKept(stack.redis, PARTITION)).toEqual({ applied: '3-1', trimmed: '0-0', bytes: 30, earlyAt: 0 })
  expect(await raiseFences(stack.redis, [PARTITION], 0, new Map([[PARTITION, '3-1']]))).toMatchObject([{ waiting: 1 }])
  // Without another commit.
  await vi.waitUntil(async () => (await waiting()).length === 1, soon)
  expect(await readKept(stack.redis, PARTITION)).toEqual({ applied: '3-1', trimmed: '3-1', bytes: 0, earlyAt: 0 })
  await trimmer.finish()
})

it('keeps them when it ends', async () => {
  const trimmer = createTrimmer(stack.redis, PARTITION, () => undefined, { ms: 60_000, bytes: 1000 })
  trimmer.trimSoon('4-1')
  await trimmer.finish()
  expect(await waiting()).toEqual(ids)
  expect(await stack.redis.exists(backlogKey(PARTITION))).toBe(0)
})

it('keeps as many bytes as the limit, and deletes the oldest entries past it, before their time', async () => {
  const pass = (keptBytes: number) => trim(stack.redis, PARTITION, '4-1', { upTo: '0-0', keptBytes })
  await pass(40)
  expect([await waiting(), (await readKept(stack.redis, PARTITION)).earlyAt]).toEqual([ids, 0])
  await pass(39)
  expect(await waiting()).toEqual(['2-1', '3-1', '4-1'])
  const kept = await readKept(stack.redis, PARTITION)
  expect(kept).toMatchObject({ applied: '4-1', trimmed: '1-1', bytes: 30 })
  expect(kept.earlyAt).toBeGreaterThan(0)
})

it('counts nothing twice when a position that was passed is passed again', async () => {
  for (const position of ['2-1', '1-1', '2-1', '3-1']) await trim(stack.redis, PARTITION, position, { upTo: '0-0' })
  expect(await readKept(stack.redis, PARTITION)).toMatchObject({ applied: '3-1', bytes: 30 })
  expect(await stack.redis.hgetall(backlogKey(PARTITION))).toEqual({ business: '10', total: '10' })
})

it('deletes nothing after the position, for a Postgres that has lost commits', async () => {
  await trim(stack.redis, PARTITION, '4-1', { upTo: '0-0' })
  await trim(stack.redis, PARTITION, '2-1', { upTo: '4-1', keptBytes: 0 })
  expect(await waiting()).toEqual(['3-1', '4-1'])
  expect(await readKept(stack.redis, PARTITION)).toMatchObject({ applied: '4-1', trimmed: '2-1', bytes: 20 })
  await trim(stack.redis, PARTITION, '2-1', { upTo: '4-1', keptBytes: 0 })
  expect(await readKept(stack.redis, PARTITION)).toMatchObject({ applied: '4-1', trimmed: '2-1', bytes: 20 })
  const backlogs = await raiseFences(stack.redis, [PARTITION], 0, new Map([[PARTITION, '2-1']]))
  expect(backlogs).toMatchObject([{ waiting: 1, lastId: '0-0' }])
  expect(await raiseFences(stack.redis, [PARTITION], 0, new Map([[PARTITION, '4-1']]))).toMatchObject([
    { waiting: 0, lastId: '4-1' },
  ])
})

it('deletes nothing after the position when memory is scarce', async () => {
  await trim(stack.redis, PARTITION, '4-1', { upTo: '0-0' })
  const before = await stack.redis.config('GET', 'maxmemory')
  await stack.redis.config('SET', 'maxmemory', '1')
  try {
    await trim(stack.redis, PARTITION, '1-1', { upTo: '0-0' })
    expect(await waiting()).toEqual(['2-1', '3-1', '4-1'])
  } finally {
    await stack.redis.config('SET', 'maxmemory', before[1] ?? '0')
  }
})
