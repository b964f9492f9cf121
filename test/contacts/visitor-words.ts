/** Terms for tests of visitors: two people, two browsers, their events, and the rows in the outbox for the timeline. */
import type { TimelineRow } from '../../src/outbox/timeline-row.ts'
import { NOW, browser, browserFact, identify, identifyFact } from '../support/facts.ts'
import { businessId, stack } from '../support/fresh-business.ts'

export const ANN = { email: 'ann@x.io' }
export const BOB = { email: 'bob@x.io' }
export const V = 'a'.repeat(32)
export const W = 'b'.repeat(32)

export const did = (event: string, at = NOW, input = {}) =>
  browser(businessId, browserFact(event, V, { occurredAt: at, ...input }), at)
export const isAnn = (visitorId = V) => identify(businessId, identifyFact(ANN, { visitorId }), false)
export const isBob = (visitorId = V) => identify(businessId, identifyFact(BOB, { visitorId }), false)

/** Returns the rows in the outbox for the timeline: the event, the contact and the time. */
export async function timeline(): Promise<[event: string, contactId: string, at: number][]> {
  const rows = await stack.sql<{ events: string }[]>`
    select events from outbox where ${businessId} = any (business_ids) order by id`
  return rows
    .flatMap(({ events }) => events.split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as TimelineRow)
    .map(({ event, contact_id, occurred_ms }) => [event, contact_id, occurred_ms])
}
