import { Type } from '@sinclair/typebox'
import { text } from '../body-fields.ts'

/** An opt-in (true) or opt-out (false) per channel. */
export const SubscriptionsSchema = Type.Object({
  email: Type.Optional(
    Type.Union([Type.Boolean(), Type.Literal('pending')], {
      description: '`pending`: the contact is asked by mail, and the opt-in counts once it is confirmed.',
    }),
  ),
  sms: Type.Optional(Type.Boolean()),
  whatsapp: Type.Optional(Type.Boolean()),
  push: Type.Optional(Type.Boolean()),
  method: text(1, 64, 'How the choice was made.', 'signup form'),
})
