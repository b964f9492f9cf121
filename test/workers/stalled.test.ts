/** A partition that has work but does not move is reported in /readyz, in the metrics and in the log. */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { findStalled } from '../../src/stream/consume/stalled-partitions.ts'
import { type Health, watchLoops } from '../../src/stream/consume/watch-loops.ts'
import { applyMicroBatch } from '../../workers/pipeline.ts'
import { openPipeline, track, eventFact } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { type IngestLab, openIngestLab } from './ingest-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

const MINUTE = 60_000
const put = (partition: string, agoMs: number) =>
  lab.redis.xadd(streamKey(partition), `${Date.now() - agoMs}-0`, 'd', '{}', 'w', '{}')
const moved = (partition: string, ago: string) =>
  stack.sql`update positions set moved_at = now() - ${ago}::interval where partition = ${partition}`

it('is one that has had work for 30 seconds and has not moved since', async () => {
  // Idle for long before its work, busy for long but moving, without work, and just below the limit.
  await moved('live-0', '1 hour')
  await put('live-0', 1000)
  await put('live-1', MINUTE)
  await moved('backfill-0', '1 hour')
  await moved('web-0', '28 seconds')
  await put('web-0', MINUTE)
  expect(await findStalled(stack)).toEqual([])
  await moved('web-0', '40 seconds')
  await moved('live-1', '1 hour')
  expect(await findStalled(stack)).toEqual([
    { partition: 'live-1', seconds: 60 },
    { partition: 'web-0', seconds: 40 },
  ])
  // Entries up to the position are done.
  await stack.sql`update positions set position = ${`${Date.now()}-0`} where partition = 'live-1'`
  expect((await findStalled(stack)).map(({ partition }) => partition)).toEqual(['web-0'])
})

it('is degraded in /readyz of the front door, and in its metrics', async () => {
  await moved('live-0', '1 hour')
  await put('live-0', MINUTE)
  const frontDoor = await runFrontDoor(stack.config)
  try {
    const ready = await (await fetch(`${frontDoor.url}/readyz`)).text()
    expect(ready).toMatch(/partitions: live-0 has work and has made no progress for \d+ s/)
    const metrics = await (await fetch(`${frontDoor.url}/metrics`)).text()
    expect(metrics).toMatch(/^stream_stalled_seconds\{partition="live-0"\} (6\d|7\d)$/m)
    expect(metrics).toMatch(/^stream_stalled_seconds\{partition="live-1"\} 0$/m)
  } finally {
    await frontDoor.close()
  }
})

it('moves with a save', async () => {
  const pipeline = await openPipeline(stack.sql, 'live-9')
  const { businessId } = await createBusiness(stack.sql)
  await moved('live-9', '1 hour')
  const made = pipeline.microBatch(track(businessId, eventFact('e', { email: 'ann@x.io' })))
  await applyMicroBatch(pipeline.deps, made, AbortSignal.timeout(10_000), () => undefined)
  const [row] = await stack.sql<{ fresh: boolean }[]>`
    select moved_at > now() - interval '20 seconds' as fresh from positions where partition = 'live-9'`
  expect(row).toEqual({ fresh: true })
  await stack.sql`delete from positions where partition = 'live-9'`
})

it('is reported by the worker that has it, and logged at most every 30 seconds', async () => {
  const lines: { level: number; partition: string; seconds: number }[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) })
  const stop = new AbortController()
  let health: Health = {}
  const heartbeat = (workedForMs?: number) => ({
    lastProgressAt: 0,
    workingSince: workedForMs === undefined ? undefined : performance.now() - workedForMs,
    unansweredSince: () => undefined,
    position: '0-0',
  })
  const watched = [
    { partition: 'live-0', heartbeat: heartbeat(31_000) },
    { partition: 'live-1', heartbeat: heartbeat(20_000) },
    { partition: 'web-0', heartbeat: heartbeat() },
  ]
  const watching = watchLoops({
    log,
    stop: stop.signal,
    loops: () => watched,
    cutOffMs: 3000,
    blockedBy: () => undefined,
    isCutOff: () => false,
    report: (now) => (health = now),
  })
  await sleep(2500)
  expect(health.blocked).toBeUndefined()
  expect(health.degraded).toMatch(/^partitions: live-0 has work and has made no progress for 3\d s$/)
  expect(lines).toMatchObject([{ level: 40, partition: 'live-0', seconds: 31 }])
  stop.abort()
  await watching
  expect(health).toEqual({})
})
