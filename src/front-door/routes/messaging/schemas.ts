/** Schemas of the body and the answer of the messaging routes. */
import { Type } from '@sinclair/typebox'
import { CapsReply, QuietHoursSchema, SentCaps } from '../../../rules/campaigns/definition-schema.ts'
import { MAX_PER_ADDRESS_HOUR } from '../../../rules/campaigns/messaging.ts'
import { closed, orNull } from '../reply-fields.ts'

/** For the OpenAPI document only: `readMessaging` checks the body. */
export const MessagingSchema = Type.Object({
  quietHours: Type.Optional(
    Type.Union([QuietHoursSchema, Type.Null()], {
      description:
        'Of the campaigns that name none. Local time of the contact. `from` is in, `to` is out; null: none. Left out: 21:00 to 09:00.',
    }),
  ),
  caps: Type.Optional({ ...SentCaps, description: 'Besides those of each campaign. Left out: none.' }),
  perAddressHour: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: MAX_PER_ADDRESS_HOUR }), Type.Null()], {
      description: 'How many messages of send calls one address gets in an hour; null: any number. Left out: 20.',
    }),
  ),
})

export const MessagingData = Type.Object(
  {
    messaging: Type.Object(
      { quietHours: orNull(QuietHoursSchema), caps: CapsReply, perAddressHour: orNull(Type.Integer()) },
      closed,
    ),
  },
  closed,
)
