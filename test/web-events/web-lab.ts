/** Captures as the front door submits them, a web partition to apply them in, and the resulting rows in ClickHouse. */
import { randomBytes, randomUUID } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import type { WebHit } from '../../src/rules/visitors/web-facts.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import type { CaptureRequest } from '../../src/stream/entry.ts'
import type { MicroBatch, Outcome } from '../../src/stream/micro-batch.ts'
import { type WebDeps, applyWebBatch } from '../../src/web-events/apply-web-batch.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')
export const MINUTE = 60_000

export const newVisitor = (): string => randomBytes(16).toString('hex')

export function hitOf(seed: Partial<WebHit> = {}): WebHit {
  return {
    id: randomUUID(),
    kind: 'page_view',
    pageId: 'p1',
    occurredAt: T0,
    url: 'https://shop.example/',
    title: '',
    referrer: '',
    depth: 0,
    activeMs: 0,
    idleMs: 0,
    ...seed,
  }
}

export function captureOf(
  businessId: string,
  visitorId: string,
  hits: WebHit[],
  seed: Partial<CaptureRequest> = {},
): CaptureRequest {
  const touches = { first: null, latest: null }
  return { kind: 'capture', n: 0, requestId: 'r', businessId, receivedAt: T0, visitorId, hits, touches, ...seed }
}

export interface WebWorker {
  partition: string
  /** Returns the batch that follows the last one. Every request is an entry of its own. */
  batchOf(...requests: CaptureRequest[]): MicroBatch
  run(batch: MicroBatch): Promise<Outcome>
  apply(...requests: CaptureRequest[]): Promise<Outcome>
}

/** Opens a partition of its own, leased under epoch 1. */
export async function openWebWorker(
  deps: WebDeps,
  partition = `web-9${Math.floor(Math.random() * 1e6)}`,
): Promise<WebWorker> {
  await deps.sql`insert into positions (partition, epoch) values (${partition}, 1) on conflict do nothing`
  let at = 0
  const worker: WebWorker = {
    partition,
    batchOf(...requests) {
      const from = at === 0 ? '0-0' : `${T0}-${at}`
      const batched = requests.map((request) => ({ streamId: `${T0}-${(at += 1)}`, frontDoor: 'test', request }))
      return { partition, epoch: 1, from, to: `${T0}-${at}`, requests: batched, poisoned: [] }
    },
    run: (batch) => applyWebBatch(deps, batch, AbortSignal.timeout(20_000), () => undefined),
    apply: (...requests) => worker.run(worker.batchOf(...requests)),
  }
  return worker
}

export async function query<Row>(
  clickhouse: ClickHouseClient,
  text: string,
  params: Record<string, unknown> = {},
): Promise<Row[]> {
  const found = await clickhouse.query({ query: text, query_params: params, format: 'JSONEachRow' })
  return await found.json<Row>()
}

/** Counts the stored rows, merged or not. */
export async function countRows(clickhouse: ClickHouseClient, business: string): Promise<number> {
  const rows = await query<{ n: string }>(
    clickhouse,
    'select count() as n from web_events where business_id = {business: UUID}',
    { business },
  )
  return Number(rows[0]?.n)
}

export const newBusiness = (): string => uuidv7()

/** Inserts rows as the shipper sends them: to whom the browser belongs, and since when. */
export async function link(
  clickhouse: ClickHouseClient,
  rows: { business_id: string; visitor_id: string; from_ms: number; contact_id: string; erased?: number }[],
): Promise<void> {
  await clickhouse.insert({
    table: 'visitor_links',
    values: rows.map((row) => ({ revision: 1 + (row.erased ?? 0), erased: 0, ...row })),
    format: 'JSONEachRow',
  })
}
