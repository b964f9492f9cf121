// @long
/** The workers as they run in production: threads, the real save, and what they report about themselves. */
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { getPriority } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { listDeadLetters } from '../../src/stream/dead-letter.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { allPartitions, partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { unownedPartitions } from '../../src/stream/partitions/positions.ts'
import { type Workers, runWorkers } from '../../workers/main.ts'
import { SECRETS_KEY, addTo } from '../deliveries/delivery-lab.ts'
import { openPlatform } from '../deliveries/platform.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type IngestLab, event, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let lab: IngestLab
let workers: Workers | undefined
beforeAll(async () => {
  stack = await openStack({ LEASE_MS: '1000', WORKERS_PORT: '0', SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => workers?.close())
afterAll(async () => {
  await lab.close()
  await stack.close()
})

const soon = { timeout: PATIENCE_MS, interval: 20 }
const get = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${workers?.port}${path}`)
  return { status: response.status, text: await response.text() }
}
const untilReady = () => vi.waitUntil(async () => (await get('/readyz')).status === 200, soon)

/** Counts the threads of this process that have a nice value higher by 10, within Linux's limit (19). */
async function countNice(): Promise<number> {
  const niceness = String(Math.min(19, getPriority() + 10))
  const threads = await readdir('/proc/self/task')
  const stats = await Promise.all(
    threads.map((thread) => readFile(`/proc/self/task/${thread}/stat`, 'utf8').catch(() => '')),
  )
  return stats.filter((stat) => stat.split(') ')[1]?.split(' ')[16] === niceness).length
}

describe('the workers', () => {
  it('apply what comes, report their state, and release their partitions when they stop', async () => {
    workers = await runWorkers(stack.config)
    expect((await get('/healthz')).status).toBe(200)
    await untilReady()
    const { businessId } = await createBusiness(stack.sql)
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 10_000 })
    const submitted = await Promise.all(['a', 'b', 'c'].map((id) => frontDoor.submit(event(id, businessId))))
    const answers = submitted.map((one) => (one.kind === 'answered' ? (one.answer as TrackAnswer) : undefined))
    expect(answers.map((answer) => answer?.isNew)).toEqual([true, false, false])
    expect(new Set(answers.map((answer) => answer?.contactId)).size).toBe(1)

    await vi.waitUntil(async () => (await get('/metrics')).text.includes('saves_total{outcome="applied"}'), soon)
    const { text } = await get('/metrics')
    expect(text).toMatch(/micro_batch_events_count\{partition="live-\d"\} \d/)
    expect(text).toMatch(/process_resident_memory_bytes \d{8,}/)
    expect(text).toMatch(/build_info\{version="[^"]+",time_zones="[^"]+"\} 1$/m)
    expect((await get('/elsewhere')).status).toBe(404)

    await workers.close()
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(2).toSorted())
  })

  it('send few queries to the stores while nothing arrives', async () => {
    workers = await runWorkers({ ...stack.config, leaseMs: 3000 })
    await untilReady()
    await vi.waitUntil(async () => (await unownedPartitions(stack.sql)).length === 0, soon)
    await stack.sql`select pg_stat_statements_reset()`
    const count = async () => {
      const [asked] = await stack.sql<[{ calls: number; renewals: number }]>`
        select coalesce(sum(calls), 0)::int as calls,
          coalesce(sum(calls) filter (where query like '%skip locked%lease_until%'), 0)::int as renewals
        from pg_stat_statements s join pg_database d on d.oid = s.dbid and d.datname = current_database()
        where query not like '%pg_stat_statements%'`
      return asked
    }
    // Two threads renew leases once a second each, look at the partitions and for a failover. In the same second, the
    // timeline worker renews its lease and looks for a failover, for rows and for segments to send, the segment worker
    // renews its lease and looks for work, the delivery worker claims, and the campaign worker looks for what is due,
    // renews its lease for branches and looks for those: 16 statements for 2 renewals. Within the five seconds that are
    // counted, each of them can run a sixth time, and so can the queries of a read of the metrics.
    await vi.waitUntil(async () => (await count()).renewals >= 10, { timeout: PATIENCE_MS, interval: 200 })
    const { calls, renewals } = await count()
    expect(calls / renewals).toBeLessThan(10)
  })

  it('let live events go before all other work', async () => {
    const gaveWay = await countNice()
    workers = await runWorkers(stack.config)
    await untilReady()
    // Backfill and web, the timeline, and deliveries.
    expect((await countNice()) - gaveWay).toBeGreaterThanOrEqual(3)
  })

  it('forward conversions, and count them', async () => {
    workers = await runWorkers(stack.config)
    const { businessId } = await createBusiness(stack.sql)
    const platform = await openPlatform()
    await addTo(stack.sql, businessId, 'webhook', { url: platform.url, settings: { all: true } })
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 10_000 })
    const call = event('l', businessId)
    const meaning = { type: 'lead', counted: '0', currency: null, order: false } as const
    await frontDoor.submit(call.kind === 'track' ? { ...call, fact: { ...call.fact, meaning } } : call)
    await vi.waitUntil(() => platform.heard.length === 1, soon)
    const sent = 'deliveries_total{kind="webhook",outcome="sent"} 1'
    await vi.waitUntil(async () => (await get('/metrics')).text.includes(sent), soon)
    await platform.close()
  })

  it('keep what cannot be read as a dead letter, and go on', async () => {
    workers = await runWorkers(stack.config)
    const { businessId } = await createBusiness(stack.sql)
    const key = streamKey(partitionOf('live', businessId, 2))
    await stack.redis.xadd(key, '*', 'd', 'no\u0000 JSON', 'w', '{}')
    await stack.redis.xadd(key, '*', 'd', '{"frontDoor":"nobody","requests":[]}', 'w', '{}')
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 10_000 })
    expect((await frontDoor.submit(event('r', businessId))).kind).toBe('answered')
    expect(await listDeadLetters(stack.sql)).toMatchObject([
      { businessId: null, kind: 'unreadable', payload: expect.stringMatching('no.* JSON') as string },
    ])
  })

  it('start a dead thread again until it stays alive', async () => {
    workers = await runWorkers(stack.config)
    // The first read of each thread fails, and is counted.
    await stack.sql`create sequence tries`
    await stack.sql`alter table partitioning rename to whole`
    await stack.sql`create view partitioning as select 1 / (nextval('tries')::int * 0) as partitions`
    await vi.waitUntil(async () => {
      const [tries] = await stack.sql<{ last_value: number }[]>`select last_value from tries`
      return Number(tries?.last_value) >= 3
    }, soon)
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(2).toSorted())
    await stack.sql`drop view partitioning`
    await stack.sql`alter table whole rename to partitioning`
    await untilReady()
    await vi.waitUntil(async () => (await unownedPartitions(stack.sql)).length === 0, soon)
  })

  it('start nothing when their port is taken', async () => {
    workers = undefined
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const workerMetricsPort = (taken.address() as AddressInfo).port
    await expect(runWorkers({ ...stack.config, workerMetricsPort })).rejects.toThrow(/in use/i)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(await unownedPartitions(stack.sql)).toEqual(allPartitions(2).toSorted())
    taken.close()
  })

  it('refuse to start with other partitions than there are', async () => {
    workers = undefined
    await expect(runWorkers({ ...stack.config, streamPartitions: 3 })).rejects.toThrow('STREAM_PARTITIONS is 3')
  })
})
