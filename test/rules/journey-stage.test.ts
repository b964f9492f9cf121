import { expect, test } from 'vitest'
import { STAGES, stageOf } from '../../src/rules/events/journey-stage.ts'
import { readNames } from './read-names.ts'

/** Contract, "States and transitions", row by row. */
const TABLE: Record<string, string> = {
  Awareness:
    'page_view, inbound_message, lead_submitted, form_submitted, email_opened, manual_contact_created, imported',
  Consideration: 'email_clicked, whatsapp_replied, product_viewed, add_to_cart, booking_started, pricing_page_viewed',
  Decision:
    'checkout_started, appointment_booked, subscription_started, trial_started, purchase, deal_won, booking_confirmed, reservation_confirmed, invoice_paid',
  Retention: 'order_delivered, appointment_attended, subscription_renewed, repeat_purchase, product_reviewed',
  Advocacy: 'referral_made, review_5_star, ugc_posted, affiliate_signup',
}

test('the stages stand in their order', () => {
  expect(STAGES).toEqual(Object.keys(TABLE))
})

test('the guide lists the names of each', () => {
  expect(readNames('The stage')).toEqual(Object.entries(TABLE).map(([stage, names]) => [stage, names.split(', ')]))
})

test.each(Object.entries(TABLE).flatMap(([stage, names]) => names.split(', ').map((name) => [name, stage])))(
  '%s leads to %s',
  (name, stage) => {
    const position = stageOf(name)
    expect(position === undefined ? undefined : STAGES[position]).toBe(stage)
  },
)

test.each([
  'lesson_done',
  'Purchase',
  'purchase ',
  '',
  'refund',
  'constructor',
  '__proto__',
  'toString',
  'sluice_form.submitted',
])('%j moves nobody', (name) => {
  expect(stageOf(name)).toBeUndefined()
})
