/** Queues recorded events for ad platforms and webhooks (docs/deliveries.md). */
import type { DecisionContext } from '../changes.ts'
import type { RecordedEvent } from './recorded-event.ts'
import { CONVERSION_TYPES, type ConversionType } from './facts.ts'
import { toAmount } from './money.ts'

/** Queues a conversion for each destination that wants it. Call it once per event, for live events only. */
export function queueDeliveries({ state, changes, newId }: DecisionContext, recorded: RecordedEvent): void {
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

/**
 * Returns the type of a conversion that can be sent. Imported events are in the past and are not sent. Pages have no
 * secret key, so their purchases are not trusted and not sent.
 */
function conversionOf({ source, fact: { meaning } }: RecordedEvent): ConversionType | undefined {
  const type = CONVERSION_TYPES.find((conversion) => conversion === meaning.type)
  if (source === 'batch') return undefined
  if (type === 'purchase' && (source === 'browser' || !meaning.order)) return undefined
  return type
}

/**
 * Returns the value in steps of 0.000001; null when it is too large to count. For a lead or a booking, this is the
 * value that the caller sent.
 */
function amountOf({ value }: RecordedEvent['fact']): string | null {
  if (value === null || value < 0) return null
  const read = toAmount(value)
  return 'tooLarge' in read ? null : read.amount
}
