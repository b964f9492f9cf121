/** The stages of a journey, first to last. A contact's stage is stored as an index of this list. */
export const STAGES = ['Awareness', 'Consideration', 'Decision', 'Retention', 'Advocacy'] as const
export type StageName = (typeof STAGES)[number]
export type Stage = 0 | 1 | 2 | 3 | 4

/** The event names that move a contact to each stage (contract, "States and transitions"). */
const NAMES_BY_STAGE: readonly (readonly [Stage, readonly string[]])[] = [
  [
    0,
    [
      'page_view',
      'inbound_message',
      'lead_submitted',
      'form_submitted',
      'email_opened',
      'manual_contact_created',
      'imported',
    ],
  ],
  [1, ['email_clicked', 'whatsapp_replied', 'product_viewed', 'add_to_cart', 'booking_started', 'pricing_page_viewed']],
  [
    2,
    [
      'checkout_started',
      'appointment_booked',
      'subscription_started',
      'trial_started',
      'purchase',
      'deal_won',
      'booking_confirmed',
      'reservation_confirmed',
      'invoice_paid',
    ],
  ],
  [3, ['order_delivered', 'appointment_attended', 'subscription_renewed', 'repeat_purchase', 'product_reviewed']],
  [4, ['referral_made', 'review_5_star', 'ugc_posted', 'affiliate_signup']],
]

const STAGE_BY_NAME: ReadonlyMap<string, Stage> = new Map(
  NAMES_BY_STAGE.flatMap(([stage, names]) => names.map((name): [string, Stage] => [name, stage])),
)

/**
 * Returns the stage that an event name leads to; undefined for other names. A stage never decreases: callers take the
 * maximum.
 */
export function stageOf(event: string): Stage | undefined {
  return STAGE_BY_NAME.get(event)
}

/** Returns the event names that lead to a stage. */
export const namesOfStage = (stage: Stage): readonly string[] =>
  NAMES_BY_STAGE.find(([one]) => one === stage)?.[1] ?? []
