/** What the save records of one event: the event itself, and its conversions for destinations. */
import type { ConversionType, EventFact, Source } from './facts.ts'

/** The fields of an event that the timeline shows. */
export type TimelineFact = Omit<EventFact, 'identity' | 'occurredAtSent' | 'tags' | 'traits' | 'warnings'>

export interface RecordedEvent {
  eventId: string
  businessId: string
  contactId: string
  receivedAt: number
  source: Source
  fact: TimelineFact
}

/** An event of an anonymous visitor. */
export type VisitorEvent = Omit<RecordedEvent, 'contactId'>

/**
 * A conversion for one destination. The save checks whether the contact has the click id that the destination needs.
 */
export interface Delivery {
  id: string
  businessId: string
  destinationId: string
  eventId: string
  contactId: string
  event: string
  type: ConversionType
  occurredAt: number
  /** Decimal string; null when no value was sent, or when the value does not count. */
  amount: string | null
  currency: string | null
  idempotencyKey: string | null
}
