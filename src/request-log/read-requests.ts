/** Reads the latest requests of a business, for its people. */
import type { Redis } from '../stores/redis.ts'
import type { Sql } from '../stores/postgres.ts'
import type { RecordedRequest, Outcome } from './recorded-request.ts'
import { type Span, readEntries, readEntry } from './request-store.ts'

export interface RequestFilter {
  /** Part of the event's name. */
  event: string | null
  /** Last characters of the key. */
  key: string | null
  outcome: Outcome | null
  contactId: string | null
}

export interface FoundRequest extends RecordedRequest {
  id: string
}

export interface FoundRequests {
  /** Newest first. */
  requests: FoundRequest[]
  /** Number of successes of the same time that were not kept. */
  omitted: number
  /** Position from which to read newer requests (`after`). */
  newest: number
  /** Position from which to read older requests (`before`); null at the end. */
  oldest: number | null
}

/** Requests per page. Those of the last entry may exceed it. */
const PAGE = 100
/**
 * With many requests a second, four entries fill a page. More are read at once only when those were not enough, because
 * live requests wait while entries are parsed.
 */
const ENTRIES_AT_ONCE = { first: 4, most: 32 }
/** Maximum of entries per call. With a filter that matches little, the page calls again for the rest. */
const MAX_ENTRIES = 1000

type Stores = { redis: Redis; sql: Sql }

export async function readRequests(
  stores: Stores,
  businessId: string,
  span: Span,
  filter: RequestFilter,
): Promise<FoundRequests> {
  const found: FoundRequest[] = []
  let omitted = 0
  let newest = span.after ?? 0
  let { before } = span
  let isEnd = false
  let count = ENTRIES_AT_ONCE.first
  for (let read = 0; read < MAX_ENTRIES && found.length < PAGE && !isEnd; read += count) {
    if (read > 0) count = Math.min(2 * count, ENTRIES_AT_ONCE.most)
    const entries = await readEntries(stores.redis, businessId, { ...span, ...(before && { before }) }, count)
    isEnd = entries.length < count
    for (const [index, { score, requests, omitted: left }] of entries.entries()) {
      newest = Math.max(newest, score)
      before = score
      omitted += left
      const matching = requests.filter((request) => matches(request, filter)).toSorted((a, b) => b.at - a.at)
      found.push(...matching.map((request) => ({ ...request, id: `${score}-${request.index}` })))
      if (found.length < PAGE) continue
      isEnd &&= index === entries.length - 1
      break
    }
  }
  return {
    requests: await withoutErased(stores.sql, businessId, found),
    omitted,
    newest,
    oldest: isEnd ? null : (before ?? null),
  }
}

function matches(request: RecordedRequest, { event, key, outcome, contactId }: RequestFilter): boolean {
  return (
    (event === null || (request.event?.toLowerCase().includes(event.toLowerCase()) ?? false)) &&
    (key === null || request.key === key) &&
    (outcome === null || request.outcome === outcome) &&
    (contactId === null || request.contactId === contactId)
  )
}

/** Returns null when there is no such request, or its contact was erased. `id` as in `FoundRequest`. */
export async function readRequest(stores: Stores, businessId: string, id: string): Promise<FoundRequest | null> {
  const [, score, index] = /^(\d{13})-(\d{1,4})$/.exec(id) ?? []
  if (score === undefined) return null
  const entry = await readEntry(stores.redis, businessId, Number(score))
  const found = entry?.requests.filter((request) => request.index === Number(index)) ?? []
  const [request] = await withoutErased(
    stores.sql,
    businessId,
    found.map((one) => ({ ...one, id })),
  )
  return request ?? null
}

/** Leaves out requests of erased contacts, even if an erasure has not reached Redis. */
async function withoutErased(sql: Sql, businessId: string, requests: FoundRequest[]): Promise<FoundRequest[]> {
  const ids = [...new Set(requests.flatMap(({ contactId }) => contactId ?? []))]
  if (ids.length === 0) return requests
  const rows = await sql<{ id: string }[]>`
    select contact_id as id from erasures
    where business_id = ${businessId} and contact_id in (select value::uuid from json_array_elements_text(${JSON.stringify(ids)}::text::json))`
  const erased = new Set(rows.map(({ id }) => id))
  return requests.filter(({ contactId }) => contactId === null || !erased.has(contactId))
}
