// @long
/**
 * The partitions of web events: they are separate from live ones, limited, wait for ClickHouse, and move when the
 * number of partitions changes.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../../src/metrics.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { encodeEntry } from '../../src/stream/decode-entry.ts'
import { changePartitions } from '../../src/stream/partitions/change-partitions.ts'
import { listDeadLetters, replayDeadLetter } from '../../src/stream/dead-letter.ts'
import { streamKey } from '../../src/stream/keys.ts'
import type { MicroBatch } from '../../src/stream/micro-batch.ts'
import { allPartitions, kindOf, partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { readPartitionMap } from '../../src/stream/partitions/partition-map.ts'
import { stuckWebPartitions } from '../../src/stream/partitions/positions.ts'
import { type WebDeps, applyWebBatch } from '../../src/web-events/apply-web-batch.ts'
import { openStack } from '../support/stack.ts'
import { openGate } from '../timeline/gate.ts'
import { type IngestLab, applyOnce, businessOf, bytesOf, event, log, openIngestLab } from '../workers/ingest-lab.ts'
import { ACTOR } from '../workers/changing-partitions.ts'
import { T0, captureOf, countRows, hitOf, newBusiness, newVisitor } from './web-lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
let web: WebDeps
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
  web = { sql: stack.sql, clickhouse: stack.clickhouse, log }
})
afterEach(() => lab.close())

const queueOnly = { wait: false }
const soon = { timeout: PATIENCE_MS, interval: 10 }

/** As in the product: web partitions go to ClickHouse, and the others to the list of applied batches. */
const applier =
  (deps: WebDeps, batches: MicroBatch[] = []) =>
  (...args: Parameters<typeof applyWebBatch> extends [unknown, ...infer Rest] ? Rest : never) => {
    const [batch] = args
    batches.push(batch)
    return kindOf(batch.partition) === 'web' ? applyWebBatch(deps, ...args) : applyOnce(stack.sql, batch)
  }

function visitorOf(partition: string, partitions = 2): string {
  for (;;) {
    const visitor = newVisitor()
    if (partitionOf('web', visitor, partitions) === partition) return visitor
  }
}

const isEmpty = async (partition: string) => (await lab.length(partition)) === 0
const allAreEmpty = async () => (await Promise.all(allPartitions(2).map(isEmpty))).every(Boolean)

describe('web events', () => {
  it('wait for ClickHouse while live events continue, and their loop still counts as alive', async () => {
    const gate = await openGate(stack.clickhouseUrl)
    gate.shut()
    const away = { ...web, clickhouse: connectClickHouse(gate.url) }
    const beats: string[] = []
    const apply = applier(away)
    const frontDoor = await lab.frontDoor()
    lab.worker('a', {
      apply: (batch, signal, beat) =>
        apply(batch, signal, () => {
          beats.push(batch.partition)
          beat()
        }),
    })
    const business = newBusiness()
    await frontDoor.submit(captureOf(business, visitorOf('web-0'), [hitOf()]), queueOnly)
    await vi.waitUntil(() => beats.length > 2, soon)
    const began = performance.now()
    expect((await frontDoor.submit(event('live', businessOf('live-0')))).kind).toBe('answered')
    expect(performance.now() - began).toBeLessThan(atLoad(1000))
    expect(await lab.length('web-0')).toBe(1)
    gate.open()
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    expect(await countRows(stack.clickhouse, business)).toBe(1)
    await away.clickhouse.close()
    await gate.close()
  })

  it('are worked off without a pause while more of them wait', async () => {
    const frontDoor = await lab.frontDoor()
    const business = newBusiness()
    for (let n = 0; n < 300; n += 1) {
      await frontDoor.submit(captureOf(business, visitorOf('web-0'), [hitOf()]), queueOnly)
    }
    const batches: MicroBatch[] = []
    const began: number[] = []
    const apply = applier(web, batches)
    lab.worker('a', {
      apply: (...args) => {
        began.push(performance.now())
        return apply(...args)
      },
    })
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    expect(batches.map(({ requests }) => requests.length)).toEqual([8, 256, 36])
    expect((began.at(-1) ?? 0) - (began[0] ?? 0)).toBeLessThan(atLoad(900))
    expect(await countRows(stack.clickhouse, business)).toBe(300)
  })

  it('gather again once none waits, and the last of them count as applied', async () => {
    const frontDoor = await lab.frontDoor()
    const metrics = createMetrics()
    const sizes: number[] = []
    const apply = (batch: MicroBatch) => {
      sizes.push(batch.requests.length)
      return applyOnce(stack.sql, batch)
    }
    lab.worker('a', { apply, metrics })
    const send = () => frontDoor.submit(captureOf(newBusiness(), visitorOf('web-0'), [hitOf()]), queueOnly)
    await send()
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    await send()
    await send()
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    expect(sizes).toEqual([1, 2])
    const measured = await metrics.batchSeconds.get()
    const seconds = measured.values.find(({ metricName }) => metricName === 'micro_batch_duration_seconds_sum')
    expect(seconds?.value).toBeLessThan(atLoad(0.5))
  })

  it('may fill their own partitions only', async () => {
    const business = businessOf('live-0')
    const of = (id: string) => captureOf(business, visitorOf('web-0'), [hitOf({ id })])
    const [first, second] = [of('h0'), of('h1')]
    const backlogLimitBytes = 4 * (bytesOf(first, 1) + bytesOf(second, 2))
    const frontDoor = await lab.frontDoor({ backlogLimitBytes })
    expect((await frontDoor.submit(first, queueOnly)).kind).toBe('queued')
    expect((await frontDoor.submit(second, queueOnly)).kind).toBe('queued')
    expect((await frontDoor.submit(captureOf(business, visitorOf('web-0'), [hitOf()]), queueOnly)).kind).toBe(
      'unavailable',
    )
    expect((await frontDoor.submit(event('live', business), queueOnly)).kind).toBe('queued')
  })

  it('are repeated as they were cut, whatever has arrived since', async () => {
    const frontDoor = await lab.frontDoor()
    const business = newBusiness()
    const visitor = visitorOf('web-0')
    const send = (id: string) => frontDoor.submit(captureOf(business, visitor, [hitOf({ id })]), queueOnly)
    for (const id of ['h0', 'h1', 'h2']) await send(id)
    const [, second] = await lab.redis.xrange(streamKey('web-0'), '-', '+')
    await stack.sql`update positions set pending = ${second?.[0] ?? ''} where partition = 'web-0'`
    const batches: MicroBatch[] = []
    lab.worker('a', { apply: applier(web, batches) })
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    const cut = batches.filter(({ partition }) => partition === 'web-0').map(({ requests }) => requests.length)
    expect(cut).toEqual([2, 1])
    expect(await countRows(stack.clickhouse, business)).toBe(3)
  })

  it('continue when a batch on its way is lost', async () => {
    await stack.sql`update positions set pending = '5-5' where partition = 'web-0'`
    const frontDoor = await lab.frontDoor()
    const business = newBusiness()
    await frontDoor.submit(captureOf(business, visitorOf('web-0'), [hitOf()]), queueOnly)
    lab.worker('a', { apply: applier(web) })
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    expect(await countRows(stack.clickhouse, business)).toBe(1)
  })

  it('are not waited for when Redis has lost them and nothing follows', async () => {
    await stack.sql`update positions set pending = '5-5', pending_at = now() - interval '1 day' where partition = 'web-0'`
    lab.worker('a', { apply: applier(web) })
    await vi.waitUntil(async () => {
      const stamped = await stack.sql`select from positions where pending is not null or pending_at is not null`
      return stamped.count === 0
    }, soon)
  })

  it('are reported once their batch has been on its way for more than ten seconds', async () => {
    const ago = (ms: number) => stack.sql`now() - ${ms} * interval '1 millisecond'`
    await stack.sql`update positions set pending = '5-5', pending_at = ${ago(9500)} where partition = 'web-0'`
    await stack.sql`update positions set pending = '5-5', pending_at = ${ago(10_500)} where partition = 'web-1'`
    expect(await stuckWebPartitions(stack.sql)).toEqual([{ partition: 'web-1', seconds: 10 }])
  })

  it('move with the number of partitions, none lost or doubled', async () => {
    const frontDoor = await lab.frontDoor()
    const business = newBusiness()
    lab.worker('a', { apply: applier(web), leaseMs: 60_000 })
    const sent: Promise<string>[] = []
    let taken = 0
    const send = async () => {
      const hit = hitOf({ id: `h${sent.length}` })
      const { kind } = await frontDoor.submit(captureOf(business, newVisitor(), [hit]), queueOnly)
      if (kind === 'queued') taken += 1
      return kind
    }
    const traffic = setInterval(() => sent.push(send()), 5)
    for (const to of [5, 1]) {
      const before = taken
      await vi.waitUntil(() => taken >= before + 20, soon)
      const options = { actor: ACTOR, to, livePauseMs: 2000, signal: AbortSignal.timeout(20_000) }
      const changed = await changePartitions({ sql: stack.sql, redis: lab.redis, report: () => undefined }, options)
      expect(changed.kind).toBe('changed')
    }
    clearInterval(traffic)
    const kinds = await Promise.all(sent)
    await vi.waitUntil(() => isEmpty('web-0'), soon)
    expect(kinds.filter((kind) => kind === 'unavailable')).toHaveLength(kinds.length - taken)
    expect(await countRows(stack.clickhouse, business)).toBe(taken)
  })

  it('are refused during a change while the last of them wait for ClickHouse, which never holds up live requests', async () => {
    const gate = await openGate(stack.clickhouseUrl)
    gate.shut()
    const away = { ...web, clickhouse: connectClickHouse(gate.url) }
    const frontDoor = await lab.frontDoor()
    lab.worker('a', { apply: applier(away), leaseMs: 60_000 })
    const business = newBusiness()
    const capture = () => frontDoor.submit(captureOf(business, visitorOf('web-0'), [hitOf()]), queueOnly)
    await capture()
    const changing = changePartitions(
      { sql: stack.sql, redis: lab.redis, report: () => undefined },
      { actor: ACTOR, to: 3, livePauseMs: 5000, signal: AbortSignal.timeout(20_000) },
    )
    await vi.waitUntil(async () => (await readPartitionMap(stack.sql)).closed.has('web'), soon)
    for (let n = 0; n < 5; n += 1) {
      const began = performance.now()
      expect((await frontDoor.submit(event(`live ${n}`, businessOf('live-0')))).kind).toBe('answered')
      const refused = await capture()
      expect(refused.kind === 'unavailable' && refused.retryAfter).toBeGreaterThanOrEqual(5)
      expect(performance.now() - began).toBeLessThan(atLoad(2000))
    }
    gate.open()
    expect(await changing).toMatchObject({ kind: 'changed' })
    expect(await countRows(stack.clickhouse, business)).toBe(1)
    await away.clickhouse.close()
    await gate.close()
  })

  it('leave live requests open while ClickHouse is away and the number cannot change', async () => {
    const gate = await openGate(stack.clickhouseUrl)
    gate.shut()
    const away = { ...web, clickhouse: connectClickHouse(gate.url) }
    const frontDoor = await lab.frontDoor()
    lab.worker('a', { apply: applier(away), leaseMs: 60_000 })
    await frontDoor.submit(captureOf(newBusiness(), visitorOf('web-0'), [hitOf()]), queueOnly)
    await new Promise((resolve) => setTimeout(resolve, 1200))
    const changing = changePartitions(
      { sql: stack.sql, redis: lab.redis, report: () => undefined },
      { actor: ACTOR, to: 3, livePauseMs: 400, signal: AbortSignal.timeout(1500) },
    )
    const business = businessOf('live-0')
    for (let n = 0; n < 10; n += 1) {
      const began = performance.now()
      expect((await frontDoor.submit(event(`live ${n}`, business))).kind).toBe('answered')
      expect(performance.now() - began).toBeLessThan(atLoad(300))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(await changing).toMatchObject({ kind: 'given_up', waiting: '1 in web-0' })
    await away.clickhouse.close()
    await gate.close()
  })
})

describe('an entry written into a stream by hand', () => {
  it('is not turned from a capture into an event, or from an event into a web event', async () => {
    const business = newBusiness()
    const capture = captureOf(business, newVisitor(), [hitOf()])
    const tracked = { n: 2, ...event('e', business) }
    const put = (partition: string, request: object) =>
      lab.redis.xadd(streamKey(partition), '*', 'd', encodeEntry('none', [JSON.stringify(request)]), 'w', '{}')
    await put('live-0', capture)
    await put('backfill-0', capture)
    await put('web-0', tracked)
    const batches: MicroBatch[] = []
    lab.worker('a', { apply: applier(web, batches) })
    await vi.waitUntil(allAreEmpty, soon)
    expect(batches.flatMap(({ requests }) => requests)).toEqual([])
    expect(batches.flatMap(({ poisoned }) => poisoned.map(({ reason }) => reason)).toSorted()).toEqual([
      'A capture request does not belong in this partition.',
      'A capture request does not belong in this partition.',
      'A track request does not belong in this partition.',
    ])
  })

  it('stops no other request when no store could keep it', async () => {
    const business = newBusiness()
    const visitor = visitorOf('web-0')
    const touches = { first: { at: T0, url: 'https://a.example/\0' }, latest: null }
    const track = { n: 3, ...event('e', business) }
    const requests = [
      captureOf(business, visitor, [hitOf()], { receivedAt: 1e300 }),
      captureOf(business, visitor, [hitOf()], { touches }),
      { ...track, fact: { ...track.fact, traits: { '\0': {} } } },
      captureOf(business, visitor, [hitOf({ id: 'good' })]),
    ].map((request) => JSON.stringify(request))
    await lab.redis.xadd(streamKey('web-0'), '*', 'd', encodeEntry('none', requests), 'w', '{}')
    lab.worker('a', { apply: applier(web) })
    await vi.waitUntil(allAreEmpty, soon)
    expect(await countRows(stack.clickhouse, business)).toBe(1)
    const seen = await stack.sql`select first_seen_at from visitors where visitor_id = ${visitor}`
    expect(seen).toEqual([{ first_seen_at: T0 }])
    expect(await listDeadLetters(stack.sql, { businessId: business })).toMatchObject([
      { kind: 'unreadable', receivedAt: null },
      { kind: 'unreadable', receivedAt: null },
      { kind: 'unreadable', reason: expect.stringContaining('/fact/traits/\ufffd') as string },
    ])
  })
})

it('a dead letter of web events can be sent again, and counts once', async () => {
  const business = newBusiness()
  const frontDoor = await lab.frontDoor()
  const request = captureOf(business, newVisitor(), [hitOf({ id: 'h1' })])
  await stack.sql`
    insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (${crypto.randomUUID()}, ${business}, 'web-0', '1-1', 'capture', 'a fault of ours', ${JSON.stringify(request)})`
  const [letter] = await listDeadLetters(stack.sql, { businessId: business })
  lab.worker('a', { apply: applier(web) })
  const replay = () => replayDeadLetter({ sql: stack.sql, submit: frontDoor.submit }, letter?.id ?? '')
  expect(await Promise.all([replay(), replay()])).toEqual([{ kind: 'queued' }, { kind: 'queued' }])
  await vi.waitUntil(async () => (await listDeadLetters(stack.sql, { businessId: business })).length === 0, soon)
  await vi.waitUntil(allAreEmpty, soon)
  const found = await stack.clickhouse.query({
    query: 'select hit_id from web_hits where business_id = {business: UUID}',
    query_params: { business },
    format: 'JSONEachRow',
  })
  expect(await found.json()).toEqual([{ hit_id: 'h1' }])
})
