/** The number of events on a page of a timeline. */
import { expect, it } from 'vitest'
import type { TimelineRow } from '../../src/outbox/timeline-row.ts'
import { PAGE_CHARACTERS, toPage } from '../../src/timeline/reading/read-timeline.ts'

const row = (n: number, characters: number): TimelineRow => ({
  business_id: '00000000-0000-0000-0000-000000000001',
  contact_id: '00000000-0000-0000-0000-000000000002',
  event_id: `00000000-0000-0000-0000-00000000000${n}`,
  event: 'e',
  occurred_ms: n,
  received_ms: n,
  type: 'none',
  value: null,
  currency: null,
  counted: '0',
  is_order: 0,
  properties: JSON.stringify({ a: 'x'.repeat(characters - '{"a":""}'.length) }),
  source: 'live',
  idempotency_key: null,
  visitor_id: null,
})
const lengthOf = (rows: TimelineRow[], limit = 500) => {
  const { events, nextCursor } = toPage(rows, limit)
  return [events.length, nextCursor !== null]
}

it('shows a field as null when the row is from before the field', () => {
  const { visitor_id: _, ...old } = row(1, 20)
  expect(toPage([old as TimelineRow], 1).events).toMatchObject([{ event: 'e', visitorId: null }])
})

it('ends after the limit, and says whether there is more', () => {
  expect(lengthOf([row(1, 20), row(2, 20)], 2)).toEqual([2, false])
  expect(lengthOf([row(1, 20), row(2, 20), row(3, 20)], 2)).toEqual([2, true])
  expect(lengthOf([])).toEqual([0, false])
})

it('ends before properties that are too large for it, but has one event', () => {
  const half = PAGE_CHARACTERS / 2
  expect(lengthOf([row(1, half), row(2, half)])).toEqual([2, false])
  expect(lengthOf([row(1, half + 1), row(2, half)])).toEqual([1, true])
  expect(lengthOf([row(1, 20), row(2, PAGE_CHARACTERS + 1)])).toEqual([1, true])
  expect(lengthOf([row(2, PAGE_CHARACTERS + 1)])).toEqual([1, false])
})
