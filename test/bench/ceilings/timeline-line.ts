import type { EventFact } from '../../../src/rules/events/facts.ts'
import { encodeEvent as encode } from '../../../src/outbox/timeline-row.ts'
import { BUSINESS, RECEIVED_AT } from './facts.ts'

/** Returns the timeline row of an event, with new ids. */
export function encodeEvent(fact: EventFact): string {
  return encode({
    businessId: BUSINESS.id,
    contactId: crypto.randomUUID(),
    eventId: crypto.randomUUID(),
    receivedAt: RECEIVED_AT,
    source: 'live',
    fact: { ...fact, visitorId: null },
  })
}
