import type { RecordedEvent } from '../rules/changes.ts'
import type { InterpretedType, Source } from '../rules/events/facts.ts'

/**
 * One recorded event on its way from the save to ClickHouse: the outbox holds such rows as JSON lines, and ClickHouse
 * reads them as they are, so the keys are the columns of its table `events`.
 */
export interface TimelineRow {
  business_id: string
  /** The contact that the event was recorded for; a merge does not change it. */
  contact_id: string
  event_id: string
  event: string
  /** Epoch ms. */
  occurred_ms: number
  /** Epoch ms. */
  received_ms: number
  type: InterpretedType
  /** As sent. */
  value: number | null
  /** The currency counted in. */
  currency: string | null
  /** Decimal text, signed: what the event added to the revenue. */
  counted: string
  is_order: 0 | 1
  /** JSON text of an object; '' when none was sent. */
  properties: string
  source: Source
  idempotency_key: string | null
  visitor_id: string | null
}

/** How each column of `events` is selected. The compiler asks for every key of `TimelineRow`, and for no other. */
const SELECTED: Record<keyof TimelineRow, string> = {
  business_id: 'business_id',
  contact_id: 'contact_id',
  event_id: 'event_id',
  event: 'event',
  occurred_ms: 'occurred_ms',
  received_ms: 'received_ms',
  type: 'type',
  value: 'value',
  currency: 'currency',
  counted: 'toString(counted) as counted',
  is_order: 'is_order',
  properties: 'properties',
  source: 'source',
  idempotency_key: 'idempotency_key',
  visitor_id: 'visitor_id',
}

/** The columns of `events`, in one order everywhere. */
export const EVENT_COLUMNS = Object.keys(SELECTED) as (keyof TimelineRow)[]
/** The list of a `select` that reads a whole row. */
export const SELECT_EVENT = Object.values(SELECTED).join(', ')

/** One line, without its line break. */
export function encodeTimelineRow(row: TimelineRow): string {
  return JSON.stringify(row)
}

export function decodeTimelineRow(line: string): TimelineRow {
  return JSON.parse(line) as TimelineRow
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Undefined for a line that is not a row, or that names no event that could be looked up. */
export function readTimelineRow(line: string): TimelineRow | undefined {
  try {
    const row = decodeTimelineRow(line)
    return [row.business_id, row.contact_id, row.event_id].every((id) => UUID.test(id)) ? row : undefined
  } catch {
    return undefined
  }
}

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
