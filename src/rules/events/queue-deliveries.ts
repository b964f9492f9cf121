/** Which recorded events are sent to ad platforms and webhooks (docs/deliveries.md). */
import type { Deciding, RecordedEvent } from '../changes.ts'
import { CONVERSION_TYPES, type ConversionType } from './facts.ts'
import { toAmount } from './money.ts'

/** Queues a conversion for each destination that wants it. To be called for what is recorded live, once. */
export function queueDeliveries({ state, changes, newId }: Deciding, recorded: RecordedEvent): void {
  const { businessId, contactId, eventId, fact } = recorded
  const destinations = state.businesses.get(businessId)?.destinations ?? []
  const type = destinations.length > 0 ? conversionOf(recorded) : undefined
  if (!type) return
  for (const destination of destinations.filter(({ types }) => types.includes(type))) {
    changes.deliveries.push({
      id: newId(),
      businessId,
      destinationId: destination.id,
      eventId,
      contactId,
      event: fact.event,
      type,
      occurredAt: fact.occurredAt,
      amount: amountOf(fact),
      currency: fact.meaning.currency,
      idempotencyKey: fact.idempotencyKey,
    })
  }
}

/** Imported events are past. A page has no key: a purchase that it reports is not sent. */
function conversionOf({ source, fact: { meaning } }: RecordedEvent): ConversionType | undefined {
  const type = CONVERSION_TYPES.find((conversion) => conversion === meaning.type)
  if (source === 'batch') return undefined
  if (type === 'purchase' && (source === 'browser' || !meaning.order)) return undefined
  return type
}

/** As it counts: in steps of 0.000001, null beyond what counts. What a lead or booking is worth is the caller's word. */
function amountOf({ value }: RecordedEvent['fact']): string | null {
  if (value === null || value < 0) return null
  const read = toAmount(value)
  return 'tooLarge' in read ? null : read.amount
}
