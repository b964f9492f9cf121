/** Converts a micro-batch of captures to the rows of each store. */
import { createHash } from 'node:crypto'
import type { Touch } from '../rules/events/facts.ts'
import type { CaptureRequest } from '../stream/entry.ts'
import type { MicroBatch } from '../stream/micro-batch.ts'

/** A period in which an erased person used a browser, in epoch ms. `from` is included, `to` is not. */
export interface ErasedVisit {
  businessId: string
  visitorId: string
  from: number
  to: number
}

/** The parts of a batch that must not be inserted. */
export interface ExcludedCaptures {
  erased: ErasedVisit[]
  /** Ids of businesses whose captures are set aside. */
  inactive: string[]
}

/** A line of `web_events`, and its origin. */
export interface WebEventLine {
  line: string
  streamId: string
  /** The request, with only this hit. */
  request: CaptureRequest
}

interface Capture {
  streamId: string
  request: CaptureRequest
}

/** Web partitions contain only captures: the reader has set everything else aside. */
function capturesOf({ requests }: MicroBatch): Capture[] {
  return requests.flatMap(({ streamId, request }) => (request.kind === 'capture' ? [{ streamId, request }] : []))
}

const activeOf = (batch: MicroBatch, { inactive }: ExcludedCaptures): Capture[] =>
  capturesOf(batch).filter(({ request }) => !inactive.includes(request.businessId))

/** Returns the captures of inactive businesses, as whole requests that can be replayed. */
export const inactiveOf = (batch: MicroBatch, { inactive }: ExcludedCaptures): Capture[] =>
  capturesOf(batch).filter(({ request }) => inactive.includes(request.businessId))

export function visitorsOf(batch: MicroBatch): { business_id: string; visitor_id: string }[] {
  const visitors = capturesOf(batch).map(({ request }) => ({
    business_id: request.businessId,
    visitor_id: request.visitorId,
  }))
  return [...new Map(visitors.map((visitor) => [visitor.business_id + visitor.visitor_id, visitor])).values()]
}

/**
 * Returns the deduplication token of the batch. It is the same for every worker that reads the batch, with or without
 * erasures. It includes a hash of the content, since a Redis that lost entries may now have other entries under the
 * same ids.
 */
export function tokenOf(batch: MicroBatch): string {
  const hits = capturesOf(batch).map(({ request }) => [request.businessId, request.visitorId, request.hits])
  const content = createHash('sha256').update(JSON.stringify(hits)).digest('hex').slice(0, 32)
  return `${batch.partition} ${batch.from} ${batch.to} ${content}`
}

/** Returns the lines to insert, in order of arrival. */
export function linesOf(batch: MicroBatch, leftOut: ExcludedCaptures): WebEventLine[] {
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

/** Returns when each visitor was seen, with its touches. Leaves out the visits of erased people. */
export function sightingsOf(batch: MicroBatch, leftOut: ExcludedCaptures): Sighting[] {
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
