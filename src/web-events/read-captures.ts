/** What a micro-batch of captures says, in the rows that each store keeps. */
import { createHash } from 'node:crypto'
import type { Touch } from '../rules/events/facts.ts'
import type { CaptureRequest } from '../stream/entry.ts'
import type { MicroBatch } from '../stream/micro-batch.ts'

/** A time in which a browser was used by a person who has been erased since: `from` is in it, `to` is not. Epoch ms. */
export interface ErasedVisit {
  businessId: string
  visitorId: string
  from: number
  to: number
}

/** What of a batch must not be inserted. */
export interface LeftOut {
  erased: ErasedVisit[]
  /** Ids of businesses; what they captured is set aside. */
  inactive: string[]
}

/** A line of `web_events`, and where it came from. */
export interface WebEventLine {
  line: string
  streamId: string
  /** With this hit alone. */
  request: CaptureRequest
}

interface Capture {
  streamId: string
  request: CaptureRequest
}

/** Only these lie in a web partition: the reader has set everything else aside. */
function capturesOf({ requests }: MicroBatch): Capture[] {
  return requests.flatMap(({ streamId, request }) => (request.kind === 'capture' ? [{ streamId, request }] : []))
}

const activeOf = (batch: MicroBatch, { inactive }: LeftOut): Capture[] =>
  capturesOf(batch).filter(({ request }) => !inactive.includes(request.businessId))

/** Whole requests, which can be replayed. */
export const inactiveOf = (batch: MicroBatch, { inactive }: LeftOut): Capture[] =>
  capturesOf(batch).filter(({ request }) => inactive.includes(request.businessId))

export function visitorsOf(batch: MicroBatch): { business_id: string; visitor_id: string }[] {
  const visitors = capturesOf(batch).map(({ request }) => ({
    business_id: request.businessId,
    visitor_id: request.visitorId,
  }))
  return [...new Map(visitors.map((visitor) => [visitor.business_id + visitor.visitor_id, visitor])).values()]
}

/**
 * The same for every worker that reads this batch, with or without erasures: one insert. Its content counts too, since a Redis that lost entries
 * may have other entries under the same ids now.
 */
export function tokenOf(batch: MicroBatch): string {
  const hits = capturesOf(batch).map(({ request }) => [request.businessId, request.visitorId, request.hits])
  const content = createHash('sha256').update(JSON.stringify(hits)).digest('hex').slice(0, 32)
  return `${batch.partition} ${batch.from} ${batch.to} ${content}`
}

/** What is to be inserted, in the order in which it arrived. */
export function linesOf(batch: MicroBatch, leftOut: LeftOut): WebEventLine[] {
  const isErased = createErasedCheck(leftOut.erased)
  return activeOf(batch, leftOut).flatMap(({ streamId, request }) =>
    request.hits
      .filter((hit) => !isErased(request, hit.occurredAt))
      .map((hit) => ({ line: lineOf(request, hit), streamId, request: { ...request, hits: [hit] } })),
  )
}

/** An argument of `see_visitors`. */
export interface Sighting {
  business_id: string
  visitor_id: string
  seen_at: number
  first_touch: Touch | null
  latest_touch: Touch | null
}

/** When each visitor was seen, and how it came; nothing of a person who has been erased. */
export function sightingsOf(batch: MicroBatch, leftOut: LeftOut): Sighting[] {
  const isErased = createErasedCheck(leftOut.erased)
  return activeOf(batch, leftOut).flatMap(({ request }) => {
    const { businessId: business_id, visitorId: visitor_id, touches } = request
    const keepTouch = (touch: Touch | null) => (touch === null || isErased(request, touch.at) ? null : touch)
    const times = request.hits.map(({ occurredAt }) => occurredAt).filter((at) => !isErased(request, at))
    const [first_touch, latest_touch] = [keepTouch(touches.first), keepTouch(touches.latest)]
    const seen = [...new Set([Math.min(...times), Math.max(...times)])]
    return times.length === 0
      ? []
      : seen.map((seen_at) => ({ business_id, visitor_id, seen_at, first_touch, latest_touch }))
  })
}

function createErasedCheck(erased: ErasedVisit[]) {
  const visits = Map.groupBy(erased, ({ businessId, visitorId }) => businessId + visitorId)
  return ({ businessId, visitorId }: CaptureRequest, at: number): boolean =>
    visits.get(businessId + visitorId)?.some(({ from, to }) => from <= at && at < to) ?? false
}

function lineOf(request: CaptureRequest, hit: CaptureRequest['hits'][number]): string {
  return JSON.stringify({
    business_id: request.businessId,
    visitor_id: request.visitorId,
    hit_id: hit.id,
    kind: hit.kind,
    page_id: hit.pageId,
    occurred_ms: hit.occurredAt,
    received_ms: request.receivedAt,
    url: hit.url,
    title: hit.title,
    referrer: hit.referrer,
    depth: hit.depth,
    active_ms: hit.activeMs,
    idle_ms: hit.idleMs,
  })
}
