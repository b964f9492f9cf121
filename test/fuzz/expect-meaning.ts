/**
 * The meaning of an accepted event (contract, "Interpretation order"; decisions, "Meaning of an event"), implemented a
 * second time.
 */
import { sent } from './verdict.ts'

const BY_NAME: Record<string, string> = {
  deal_won: 'purchase',
  invoice_paid: 'purchase',
  purchase: 'purchase',
  repeat_purchase: 'purchase',
  subscription_renewed: 'purchase',
  subscription_started: 'purchase',
  appointment_booked: 'booking',
  booking_confirmed: 'booking',
  reservation_confirmed: 'booking',
  trial_started: 'booking',
  form_submitted: 'lead',
  'sluice_form.submitted': 'lead',
  'sluice_link.submitted': 'lead',
  lead_submitted: 'lead',
  add_to_cart: 'checkout_started',
  booking_started: 'checkout_started',
  checkout_started: 'checkout_started',
  appointment_attended: 'fulfilled',
  order_delivered: 'fulfilled',
  appointment_cancelled: 'cancelled',
  subscription_canceled: 'cancelled',
  subscription_expired: 'cancelled',
}

export interface Meaning {
  type: string
  counted: number
}

export function meaningOf(body: Record<string, unknown>): Meaning {
  const value = (sent(body, 'value') as number | undefined) ?? 0
  const name = (sent(body, 'event') as string).trim()
  const moved = value > 0 ? 'purchase' : value < 0 ? 'refund' : undefined
  const byName = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined
  const type = (sent(body, 'type') as string | undefined) ?? moved ?? byName ?? 'none'
  const countable = Math.abs(value) <= 1e15 ? Math.abs(value) : 0
  if (type === 'refund') return { type, counted: -countable }
  return { type, counted: type === 'purchase' && value > 0 ? countable : 0 }
}
