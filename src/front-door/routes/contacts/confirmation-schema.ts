import { Type } from '@sinclair/typebox'
import { closed, oneOf } from '../reply-fields.ts'

export const CONFIRMATION_OUTCOMES = [
  'accepted',
  'refused',
  'temporary',
  'unknown',
  'template_failed',
  'suppressed',
  'already_subscribed',
] as const

/** The outcome of the mail that asks for a confirmation. */
export const ConfirmationData = Type.Object(
  {
    outcome: oneOf(CONFIRMATION_OUTCOMES),
    reason: Type.Optional(Type.String({ description: "The provider's own words, or why the template failed." })),
  },
  closed,
)
