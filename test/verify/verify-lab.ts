/** People with a past, a shipper that sends them to ClickHouse, and the results of `verify`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Difference } from '../../src/admin/verify/kind.ts'
import {
  type VerifyResult as DirectVerdict,
  verify,
  type VerifyDeps,
  type VerifyOptions,
} from '../../src/admin/verify/verify.ts'
import type { Uncompared } from '../../src/admin/verify/inspect.ts'
import { createLogger } from '../../src/log.ts'
import { linesOf } from '../../src/outbox/pack-events.ts'
import { decodeTimelineRow, type TimelineRow } from '../../src/outbox/timeline-row.ts'
import { runTimeline } from '../../src/timeline/run-timeline.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { type Pipeline, batch, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack, type Stack } from '../support/stack.ts'
import { captureOf, hitOf, newVisitor, openWebWorker, type WebWorker } from '../web-events/web-lab.ts'

export interface VerifyResult {
  exitCode: number
  agree: boolean | null
  businesses: number
  contacts: number
  visitors: number
  notCompared: number
  stuck: number
  differing: number
  found: Record<string, number>
  differences: Difference[]
  uncompared: Uncompared[]
  repaired: Record<string, number> | null
  error?: { code: string; message: string }
}

type Sizes = Pick<VerifyDeps, 'sliceSize' | 'maxKept'>

export interface VerifyLab extends Stack {
  pipeline: Pipeline
  worker: WebWorker
  verify(...words: string[]): Promise<VerifyResult>
  /** Runs the comparison without the command around it. */
  verifyDirectly(deps: Sizes & Partial<VerifyDeps>, options: VerifyOptions): Promise<DirectVerdict>
  /** Changes ClickHouse directly, without the product's knowledge. */
  damage(statement: string): Promise<void>
  /** Replaces a view by one that has the same columns but no rows. */
  emptyView(name: string, database?: keyof Stack['clickhouse']['databases']): Promise<void>
  /** Resolves when the shipper has nothing to do. */
  shipped(): Promise<void>
  /** Stops the shipper: nothing is shipped until it is started again. */
  stopShipping(): Promise<void>
  startShipping(): void
}

export async function openVerifyLab(): Promise<VerifyLab> {
  const stack = await openStack({}, { ownClickHouse: true })
  const { sql, clickhouse, config } = stack
  const log = createLogger({ level: 'silent', name: 'test' })
  let stopping = new AbortController()
  let shipping: Promise<void> | undefined
  const startShipping = () => {
    stopping = new AbortController()
    shipping = runTimeline({ sql, clickhouse, log, config }, stopping.signal)
  }
  const stopShipping = async () => {
    stopping.abort()
    await shipping
  }
  startShipping()
  return {
    ...stack,
    pipeline: await openPipeline(sql),
    worker: await openWebWorker({ sql, clickhouse, log }),
    verify: (...words) => verifyStack(stack, ...words),
    verifyDirectly: (deps, options) => verify({ ...directDeps(stack), ...deps }, options),
    async damage(query) {
      await clickhouse.command({ query, clickhouse_settings: { mutations_sync: '2' } })
    },
    emptyView: (name, database = 'internal') => emptyView(stack, name, database),
    shipped: () => untilShipped(stack),
    stopShipping,
    startShipping,
    async close() {
      await stopShipping()
      await stack.close()
    },
  }
}

async function emptyView(
  { clickhouse }: Stack,
  name: string,
  database: keyof Stack['clickhouse']['databases'],
): Promise<void> {
  const place = clickhouse.databases[database]
  const query = `select as_select from system.tables where database = '${place}' and name = '${name}'`
  const [found] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ as_select: string }>()
  await clickhouse.command({
    query: `create or replace view ${place}.${name} as select * from (${found?.as_select}) where false`,
  })
}

function directDeps({ sql, clickhouse, redis, config }: Stack) {
  const nothing = () => undefined
  const log = createLogger({ level: 'silent', name: 'test' })
  const { signal } = new AbortController()
  return {
    sql,
    writer: sql,
    clickhouse,
    redis,
    config,
    log,
    signal,
    advance: nothing,
    showStatus: nothing,
    waitMs: 120_000,
    startedAt: new Date(),
  }
}

/** `admin verify --json` */
export async function verifyStack({ config }: Stack, ...words: string[]): Promise<VerifyResult> {
  const { exitCode, out } = await runAdminQuietly(['verify', '--json', ...words], config)
  expect(out).toMatch(/^[^\n]+\n$/)
  return { exitCode, ...(JSON.parse(out) as Omit<VerifyResult, 'exitCode'>) }
}

async function untilShipped({ sql }: Stack): Promise<void> {
  for (const deadline = Date.now() + 100_000; ; await sleep(20)) {
    const [row] = await sql<[{ left: number }]>`
      select (select count(*)::int from outbox where shipped_at is null)
        + (select count(*)::int from erasures where deleted_at is null)
        + (select count(*)::int from erased_visits where deleted_at is null) as left`
    if (row.left === 0) return
    if (Date.now() > deadline) throw new Error(`${row.left} are still to be shipped after 100 s`)
  }
}

export interface People {
  businessId: string
  /** Bought twice, got a refund once, and took some lessons. */
  ann: string
  /** Two contacts that were merged, and the id that lost. */
  bob: string
  bobBefore: string
  /** Erased. */
  eve: string
  /** One visitor of each person, seen on a page that an advertisement led to. */
  browsers: Record<'ann' | 'bob' | 'eve', string>
}

const T0 = Date.parse('2026-01-01T00:00:00Z')

/** Returns the events of a business in the outbox. */
export async function recordedEvents({ sql }: Stack, { businessId }: People): Promise<TimelineRow[]> {
  const rows = await sql<{ events: string }[]>`
    select events from outbox where ${businessId}::uuid = any (business_ids) order by id`
  return rows.flatMap(({ events }) => linesOf(events)).map(decodeTimelineRow)
}

/** Makes some people with a past, in two saves and an erasure. */
export async function makePeople({ sql, pipeline, worker }: VerifyLab): Promise<People> {
  const { businessId } = await createBusiness(sql)
  const browsers = { ann: newVisitor(), bob: newVisitor(), eve: newVisitor() }
  const first = { at: T0, url: 'https://shop.example/?gclid=g', clickIds: { gclid: 'g' } }
  const seen = { touches: { first, latest: first }, receivedAt: T0 }
  await worker.apply(
    ...Object.values(browsers).map((id) => captureOf(businessId, id, [hitOf({ occurredAt: T0 })], seen)),
  )
  const ann = { email: 'ann@x.io' }
  const answers = await pipeline.apply(
    identify(
      businessId,
      identifyFact(ann, {
        profile: { firstName: 'Ann', country: 'IL' },
        traits: { plan: 'pro' },
        visitorId: browsers.ann,
      }),
    ),
    track(businessId, eventFact('purchase', ann, { occurredAt: T0, value: 49.9, tags: ['vip', 'ünï'] })),
    track(businessId, eventFact('purchase', ann, { occurredAt: T0 + 5000, value: 0.1, sentCurrency: 'EUR' })),
    track(
      businessId,
      eventFact('refund', ann, { occurredAt: T0 + 9000, value: -9.9, properties: '{"why":"\\"ü\\""}' }),
    ),
    track(businessId, eventFact('lesson', { email: 'bob@x.io' }, { occurredAt: T0, visitorId: browsers.bob })),
    track(businessId, eventFact('lesson', { phone: '972500000001' }, { occurredAt: T0 + 1, traits: { seats: 3 } })),
    track(businessId, eventFact('lesson', { email: 'eve@x.io' }, { occurredAt: T0, visitorId: browsers.eve })),
  )
  const [{ contactId: annId }, , , , { contactId: bob }, { contactId: bobBefore }, { contactId: eve }] = answers as [
    ...{ contactId: string }[],
  ] as [{ contactId: string }, 0, 0, 0, { contactId: string }, { contactId: string }, { contactId: string }]
  await pipeline.batch(
    batch(businessId, [
      eventFact('lesson', ann, { occurredAt: T0 - 7_000_000_000_000 }),
      eventFact('lesson', ann, { occurredAt: T0 + 60_000, idempotencyKey: 'k' }),
      eventFact('lesson', { email: 'bob@x.io', phone: '972500000001' }, { occurredAt: T0 + 2 }),
    ]),
  )
  await pipeline.apply({ kind: 'erase', businessId, receivedAt: T0, contactId: eve })
  return { businessId, ann: annId, bob, bobBefore, eve, browsers }
}
