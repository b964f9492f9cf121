/**
 * Waiting requests of an inactive business are set aside without being applied, and replayed on request once it is
 * active again.
 */
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { uuidv7 } from 'uuidv7'
import { listDeadLetters, replayDeadLetter } from '../../src/stream/dead-letter.ts'
import { createLogger } from '../../src/log.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { readPositions } from '../../src/stream/partitions/positions.ts'
import { applyWebBatch } from '../../src/web-events/apply-web-batch.ts'
import { linesOf, tokenOf } from '../../src/web-events/read-captures.ts'
import { insertHits } from '../../src/web-events/insert-hits.ts'
import { stampBatch } from '../../src/web-events/stamp-batch.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { type Answer, type Speak, speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { captureOf, hitOf, newVisitor, openWebWorker } from '../web-events/web-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
let neighbour: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
  neighbour = await createBusiness(service.sql)
})

const admin = async (words: string): Promise<unknown> => {
  const { exitCode, out } = await runAdminQuietly([...words.split(' '), '--json'], service.config)
  return { exitCode, ...(JSON.parse(out) as object) }
}
const setActive = (active: boolean) => admin(`business update ${tenant.businessId} --active ${active}`)
const ADA = { email: 'ada@example.com' }
const track = ({ secretKey: key }: TestBusiness) =>
  speak('POST', '/api/sdk/track', { key, json: { event: 'e', identity: ADA } })
const batch = ({ secretKey: key }: TestBusiness) =>
  speak('POST', '/api/sdk/track/batch', { key, json: { events: [1, 2].map(() => ({ event: 'e', identity: ADA })) } })
const identify = ({ secretKey: key }: TestBusiness) =>
  speak('POST', '/api/sdk/identify', { key, json: { identity: ADA } })

/** Requests wait while the workers cannot save. */
async function whileNothingIsSaved(work: () => Promise<void>): Promise<void> {
  const holder = await service.sql.reserve()
  try {
    await holder`begin`
    await holder`select from positions for update`
    await work()
    await holder`commit`
  } finally {
    holder.release()
  }
}
const untilWaiting = async (entries: number): Promise<void> => {
  const streams = [...(await readPositions(service.sql)).keys()].map(streamKey)
  await vi.waitUntil(
    async () => {
      const lengths = await Promise.all(streams.map((stream) => service.redis.xlen(stream)))
      return lengths.reduce((sum, length) => sum + length, 0) >= entries
    },
    { timeout: PATIENCE_MS },
  )
  // Leave time for the last of them, too.
  await new Promise((resolve) => setTimeout(resolve, 200))
}
const countEvents = async ({ businessId }: TestBusiness): Promise<number> => {
  const [row] = await service.sql<[{ count: number }]>`
    select coalesce(sum(count), 0)::int as count from event_statistics where business_id = ${businessId}`
  return row.count
}

describe('what waits in the stream when its business is made inactive', () => {
  it('is refused as a call would be, kept, and applied by a replay; its neighbours are applied', async () => {
    // The workers now have the business cached as active.
    expect((await track(tenant)).status).toBe(200)
    let calls: Promise<Answer[]> = Promise.resolve([])
    let others: Promise<Answer[]> = Promise.resolve([])
    await whileNothingIsSaved(async () => {
      calls = Promise.all([track(tenant), batch(tenant), identify(tenant)])
      others = Promise.all([track(neighbour), batch(neighbour)])
      await untilWaiting(3)
      expect(await setActive(false)).toMatchObject({ exitCode: 0 })
    })
    for (const { status, body } of await calls) {
      expect([status, body.error.code]).toEqual([403, 'business_inactive'])
    }
    expect((await others).map(({ status }) => status)).toEqual([200, 200])
    expect(await countEvents(tenant)).toBe(1)
    expect(await countEvents(neighbour)).toBe(3)
    const letters = await listDeadLetters(service.sql, { businessId: tenant.businessId })
    expect(letters.map(({ kind }) => kind).toSorted()).toEqual(['batch', 'batch', 'identify', 'track'])
    expect(new Set(letters.map(({ reason }) => reason))).toEqual(new Set(['the business is inactive']))

    const replay = () => admin(`dead-letters replay all --business ${tenant.businessId}`)
    expect(await replay()).toMatchObject({
      exitCode: 1,
      results: letters.map(() => ({ outcome: 'not replayable: the business is inactive' })),
    })
    await setActive(true)
    expect(await replay()).toMatchObject({ exitCode: 0, results: letters.map(() => ({ outcome: 'applied' })) })
    expect(await countEvents(tenant)).toBe(4)
    expect(await listDeadLetters(service.sql, { businessId: tenant.businessId })).toEqual([])
  })

  it('is set aside again when a replay was on its way', async () => {
    await setActive(false)
    const id = uuidv7()
    await service.sql`insert into dead_letters (id, partition, stream_id, kind, reason, payload)
      values (${id}, 'p', '0-1', 'track', 'r', ${JSON.stringify({
        kind: 'subscribe',
        businessId: tenant.businessId,
        receivedAt: 1,
        requestId: 'r',
        n: 1,
        contactId: uuidv7(),
        channels: { email: true },
        method: 'form',
      })})`
    expect(await admin(`dead-letters replay ${id}`)).toMatchObject({ results: [{ outcome: 'failed again' }] })
    const letters = await listDeadLetters(service.sql, { businessId: tenant.businessId })
    expect(letters).toMatchObject([{ kind: 'subscribe', reason: 'the business is inactive' }])
  })
})

it('switched off and on in the middle of traffic, each call is applied once, or refused and kept at most once', async () => {
  const stopping = new AbortController()
  const answers = { recorded: 0, refused: 0, others: new Set<string>(), neighbours: new Set<number>() }
  const calling = Array.from({ length: 8 }, async (_, at) => {
    while (!stopping.signal.aborted) {
      const [{ status, body }, events] = at % 2 ? [await track(tenant), 1] : [await batch(tenant), 2]
      if (status === 200) answers.recorded += events
      else if (status === 403 && body.error.code === 'business_inactive') answers.refused += events
      else answers.others.add(`${status} ${body.error.code}`)
    }
  })
  const neighbouring = (async () => {
    while (!stopping.signal.aborted) answers.neighbours.add((await batch(neighbour)).status)
  })()
  for (let n = 0; n < 6; n += 1) {
    // Some requests wait in the stream at the moment of the change.
    await whileNothingIsSaved(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      await setActive(false)
    })
    await new Promise((resolve) => setTimeout(resolve, n * 150))
    await setActive(true)
    await new Promise((resolve) => setTimeout(resolve, 700))
  }
  stopping.abort()
  await Promise.all([...calling, neighbouring])
  expect([answers.others, answers.neighbours]).toEqual([new Set(), new Set([200])])
  expect(await countEvents(tenant)).toBe(answers.recorded)
  const kept = (await listDeadLetters(service.sql, { businessId: tenant.businessId, limit: 100_000 })).length
  expect(kept).toBeGreaterThan(0)
  expect(kept).toBeLessThanOrEqual(answers.refused)
  await setActive(true)
  expect(await admin(`dead-letters replay all --business ${tenant.businessId}`)).toMatchObject({ exitCode: 0 })
  expect(await countEvents(tenant)).toBe(answers.recorded + kept)
  expect(await listDeadLetters(service.sql, { businessId: tenant.businessId })).toEqual([])
})

describe('what a browser captured', () => {
  const log = createLogger({ level: 'silent', name: 'test' })
  const stored = async (businessId: string) => {
    const query = `select count() as n from web_events where business_id = '${businessId}'`
    const rows = await (await service.clickhouse.query({ query, format: 'JSONEachRow' })).json<{ n: string }>()
    return Number(rows[0]?.n)
  }

  /** Opens a partition that the workers of the service do not use. */
  const openOwnWebWorker = async () => {
    const partition = `web-${uuidv7()}`
    await service.sql`insert into positions (partition, epoch, owner, lease_until)
      values (${partition}, 1, 'test', now() + interval '5 minutes')`
    return openWebWorker({ sql: service.sql, clickhouse: service.clickhouse, log }, partition)
  }

  it('for an inactive business is set aside, request by request', async () => {
    await setActive(false)
    const worker = await openOwnWebWorker()
    const of = ({ businessId }: TestBusiness) => captureOf(businessId, newVisitor(), [hitOf(), hitOf()])
    expect(await worker.apply(of(tenant), of(neighbour))).toMatchObject({ kind: 'applied' })
    expect([await stored(tenant.businessId), await stored(neighbour.businessId)]).toEqual([0, 2])
    const [letter, more] = await listDeadLetters(service.sql, { businessId: tenant.businessId })
    expect([letter, more]).toMatchObject([{ kind: 'capture', reason: 'the business is inactive' }, undefined])
    expect((JSON.parse(letter?.payload ?? '') as { hits: object[] }).hits).toHaveLength(2)
  })

  it.each([true, false])(
    'is decided once: a worker that repeats a batch on its way inserts the same (active: %s)',
    async (active) => {
      const deps = { sql: service.sql, clickhouse: service.clickhouse, log }
      const worker = await openOwnWebWorker()
      const made = worker.batchOf(
        captureOf(tenant.businessId, newVisitor(), [hitOf()]),
        captureOf(neighbour.businessId, newVisitor(), [hitOf()]),
      )
      await setActive(active)
      const stamped = await stampBatch(service.sql, made)
      if (stamped.kind !== 'stamped') throw new Error(stamped.kind)
      await insertHits(deps.clickhouse, linesOf(made, stamped), tokenOf(made), AbortSignal.timeout(10_000))
      // Its owner died here, and the business was changed.
      await setActive(!active)
      expect(await applyWebBatch(deps, made, AbortSignal.timeout(10_000), () => undefined)).toMatchObject({
        kind: 'applied',
      })
      expect(await stored(tenant.businessId)).toBe(active ? 1 : 0)
      expect(await listDeadLetters(service.sql, { businessId: tenant.businessId })).toHaveLength(active ? 0 : 1)
    },
  )
})

it('a dead letter of a removed business can still be replayed', async () => {
  const id = uuidv7()
  await service.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (${id}, ${uuidv7()}, 'p', '0-1', 'track', 'r', 'no JSON')`
  const submit = () => Promise.reject(new Error('not to be sent'))
  expect(await replayDeadLetter({ sql: service.sql, submit }, id)).toMatchObject({ kind: 'not_replayable' })
})
