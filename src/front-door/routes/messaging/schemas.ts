/** Schemas of the body and the answer of the messaging routes. */
import { Type } from '@sinclair/typebox'
import { CapsReply, QuietHoursSchema, SentCaps } from '../../../rules/campaigns/definition-schema.ts'
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
})

export const MessagingData = Type.Object(
  { messaging: Type.Object({ quietHours: orNull(QuietHoursSchema), caps: CapsReply }, closed) },
  closed,
)
