import type { RecordedEvent } from '../rules/changes.ts'
import { encodeTimelineRow } from './timeline-row.ts'

/** An event as the outbox holds it. */
export function encodeEvent({ eventId, businessId, contactId, receivedAt, source, fact }: RecordedEvent): string {
  return encodeTimelineRow({
    business_id: businessId,
    contact_id: contactId,
    event_id: eventId,
    event: fact.event,
    occurred_ms: fact.occurredAt,
    received_ms: receivedAt,
    type: fact.meaning.type,
    value: fact.value,
    currency: fact.meaning.currency,
    counted: fact.meaning.counted,
    is_order: fact.meaning.order ? 1 : 0,
    properties: fact.properties ?? '',
    source,
    idempotency_key: fact.idempotencyKey,
    visitor_id: fact.visitorId,
  })
}
