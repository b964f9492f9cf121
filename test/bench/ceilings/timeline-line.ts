import type { EventFact } from '../../../src/rules/events/facts.ts'
import { encodeTimelineRow } from '../../../src/outbox/timeline-row.ts'
import { BUSINESS, RECEIVED_AT } from './facts.ts'

/** The timeline's row of an event, under ids of its own. */
export function encodeEvent(fact: EventFact): string {
  return encodeTimelineRow({
    business_id: BUSINESS.id,
    contact_id: crypto.randomUUID(),
    event_id: crypto.randomUUID(),
    event: fact.event,
    occurred_ms: fact.occurredAt,
    received_ms: RECEIVED_AT,
    type: fact.meaning.type,
    value: fact.value,
    currency: fact.meaning.currency,
    counted: fact.meaning.counted,
    is_order: fact.meaning.order ? 1 : 0,
    properties: fact.properties ?? '',
    source: 'live',
    idempotency_key: fact.idempotencyKey,
    visitor_id: null,
  })
}
