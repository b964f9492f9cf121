import type { EventType, InterpretedType, Meaning } from './facts.ts'
import { negate, toAmount } from './money.ts'
import { trimText } from './text.ts'

/** The event names that imply a type (contract, "Recognised names by type"). */
const RECOGNISED_NAMES: Partial<Record<EventType, readonly string[]>> = {
  purchase: ['deal_won', 'invoice_paid', 'purchase', 'repeat_purchase', 'subscription_renewed', 'subscription_started'],
  booking: ['appointment_booked', 'booking_confirmed', 'reservation_confirmed', 'trial_started'],
  lead: ['form_submitted', 'sluice_form.submitted', 'sluice_link.submitted', 'lead_submitted'],
  checkout_started: ['add_to_cart', 'booking_started', 'checkout_started'],
  fulfilled: ['appointment_attended', 'order_delivered'],
  cancelled: ['appointment_cancelled', 'subscription_canceled', 'subscription_expired'],
}

const TYPE_BY_NAME: ReadonlyMap<string, EventType> = new Map(
  (Object.entries(RECOGNISED_NAMES) as [EventType, readonly string[]][]).flatMap(([type, names]) =>
    names.map((name): [string, EventType] => [name, type]),
  ),
)

interface ReportedEvent {
  event: string
  type?: EventType | undefined
  /** A finite number. */
  value?: number | undefined
  currency?: string | undefined
}

/**
 * Returns what an event means, and how much of its amount counts (contract, "Interpretation order"; decisions, "Meaning
 * of an event"). `defaultCurrency` is the currency of the business at receipt.
 */
export function interpret(reported: ReportedEvent, defaultCurrency: string): Meaning {
  const type = typeOf(reported)
  const currency = reported.value === undefined ? null : trimText(reported.currency ?? defaultCurrency).toUpperCase()
  return { type, currency, ...count(type, reported.value) }
}

/** Returns the meaning of an event without a type or amount, such as one from a page. */
export function meaningOfName(event: string): Meaning {
  const type = typeOf({ event })
  return { type, counted: '0', currency: null, order: type === 'purchase' }
}

/** The type that was sent wins. Without one, the sign of the amount decides, and without an amount, the name. */
function typeOf({ event, type, value = 0 }: ReportedEvent): InterpretedType {
  if (type !== undefined) return type
  if (value > 0) return 'purchase'
  if (value < 0) return 'refund'
  return TYPE_BY_NAME.get(event) ?? 'none'
}

type Count = Pick<Meaning, 'counted' | 'order' | 'warning'>

function count(type: InterpretedType, value: number | undefined): Count {
  const nothing = { counted: '0', order: type === 'purchase' }
  if (value === undefined) return nothing
  if (type === 'none') {
    const warning = 'value was not counted: the amount has no meaning without a type or a recognised event name'
    return { ...nothing, warning }
  }
  if (type !== 'purchase' && type !== 'refund') return nothing
  if (type === 'purchase' && value < 0) {
    const warning = 'value was not counted: a purchase with a negative amount contradicts itself'
    return { counted: '0', order: false, warning }
  }
  return { ...nothing, ...countMoved(type, Math.abs(value)) }
}

function countMoved(type: 'purchase' | 'refund', size: number): Partial<Count> {
  const result = toAmount(size)
  if ('tooLarge' in result) return { warning: 'value was not counted: the amount is beyond 1000000000000000' }
  const counted = type === 'refund' ? negate(result.amount) : result.amount
  return result.rounded ? { counted, warning: 'value was rounded to six decimals' } : { counted }
}
