/**
 * A recorded event on its way from the save to ClickHouse, and from there to the API. The outbox stores these rows as
 * JSON lines, which ClickHouse reads directly.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { RecordedEvent } from '../rules/events/recorded-event.ts'
import { INTERPRETED_TYPES, SOURCES } from '../rules/events/facts.ts'
import { closed, dateTime, oneOf, orNull, uuid } from '../rules/schemas.ts'

/** The columns of the table `events`, with their values. Times are epoch ms. */
function rowOf({ eventId, businessId, contactId, receivedAt, source, fact }: RecordedEvent) {
  return {
    business_id: businessId,
    /** The contact that the event was recorded for; a merge does not change it. */
    contact_id: contactId,
    event_id: eventId,
    event: fact.event,
    occurred_ms: fact.occurredAt,
    received_ms: receivedAt,
    type: fact.meaning.type,
    /** The value as sent. */
    value: fact.value,
    /** The currency of `counted`. */
    currency: fact.meaning.currency,
    /** The amount that the event added to the revenue, as signed decimal text. */
    counted: fact.meaning.counted,
    is_order: fact.meaning.order ? (1 as const) : (0 as const),
    /** JSON text of an object; '' when none was sent. */
    properties: fact.properties ?? '',
    source,
    idempotency_key: fact.idempotencyKey,
    visitor_id: fact.visitorId,
  }
}

export type TimelineRow = ReturnType<typeof rowOf>

/** How each column is selected. The compiler requires every key of `TimelineRow`, and no other key. */
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

/** The columns of `events`, in the same order everywhere. */
export const EVENT_COLUMNS = Object.keys(SELECTED) as (keyof TimelineRow)[]
/** The select list that reads a whole row. */
export const SELECT_EVENT = Object.values(SELECTED).join(', ')

const field = <Schema extends TSchema>(
  schema: Schema,
  example: Static<Schema>,
  of: (row: TimelineRow) => Static<Schema>,
) => ({ schema, example, of })

/** The fields of an event as the API shows it (decisions, "Reading back"). Times are ISO 8601 UTC. */
const FIELDS = {
  eventId: field(uuid, '0198c5a0-7d20-7a6e-b0c4-1f3e5d7b9a02', (row) => row.event_id),
  event: field(Type.String(), 'invoice_paid', (row) => row.event),
  occurredAt: field(dateTime, '2026-03-01T09:30:00.000Z', (row) => new Date(row.occurred_ms).toISOString()),
  receivedAt: field(dateTime, '2026-03-01T09:30:00.120Z', (row) => new Date(row.received_ms).toISOString()),
  type: field(oneOf(INTERPRETED_TYPES), 'purchase', (row) => row.type),
  value: field(orNull(Type.Number()), 49.9, (row) => row.value),
  currency: field(orNull(Type.String()), 'USD', (row) => row.currency),
  countedRevenue: field(Type.Number(), 49.9, (row) => Number(row.counted)),
  /** Null when none were sent. */
  properties: field(Type.Unknown(), { invoice: 'INV-7' }, ({ properties }) =>
    properties === '' ? null : (JSON.parse(properties) as unknown),
  ),
  source: field(oneOf(SOURCES), 'live', (row) => row.source),
  idempotencyKey: field(orNull(Type.String()), 'order-9917', (row) => row.idempotency_key),
  visitorId: field(orNull(Type.String()), null, (row) => row.visitor_id),
}

export type TimelineEvent = { [Name in keyof typeof FIELDS]: ReturnType<(typeof FIELDS)[Name]['of']> }

const mapFields = <T>(of: (one: (typeof FIELDS)[keyof typeof FIELDS]) => T) =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, one]) => [name, of(one)]))

export const TimelineEventSchema = Type.Object(
  mapFields(({ schema }) => schema),
  closed,
)

export const EVENT_EXAMPLE = mapFields(({ example }) => example)

/** Missing columns become null: a line from an earlier version lacks the columns that were added later. */
export function toTimelineEvent(row: TimelineRow): TimelineEvent {
  return mapFields(({ of }) => of(row) ?? null) as TimelineEvent
}

/** Encodes one line, without a line break. */
export function encodeTimelineRow(row: TimelineRow): string {
  return JSON.stringify(row)
}

export function decodeTimelineRow(line: string): TimelineRow {
  return JSON.parse(line) as TimelineRow
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns undefined for a line that is not a row, or whose ids are not valid. */
export function readTimelineRow(line: string): TimelineRow | undefined {
  try {
    const row = decodeTimelineRow(line)
    return [row.business_id, row.contact_id, row.event_id].every((id) => UUID.test(id)) ? row : undefined
  } catch {
    return undefined
  }
}

/** Encodes an event for the outbox. */
export function encodeEvent(event: RecordedEvent): string {
  return encodeTimelineRow(rowOf(event))
}
