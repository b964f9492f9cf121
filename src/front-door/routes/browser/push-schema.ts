/** The body with which a browser registers for push messages. */
import { type Static, Type } from '@sinclair/typebox'
import { browserVisitorId } from './track-schema.ts'

const SubscriptionSchema = Type.Object(
  {
    endpoint: Type.String({
      pattern: '^https://[A-Za-z0-9.:\\[\\]-]+(/[\\x21\\x22\\x24-\\x7e]*)?$',
      maxLength: 1000,
      description: 'an https address of at most 1,000 characters, as the browser gives it',
      examples: ['https://push.example.com/send/c2x1aWNl'],
    }),
    keys: Type.Object({
      p256dh: Type.String({
        pattern: '^B[A-Za-z0-9_-]{86}$',
        description: 'a point of P-256 in base64url: 87 characters',
        examples: ['BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'],
      }),
      auth: Type.String({
        pattern: '^[A-Za-z0-9_-]{22}$',
        description: '16 bytes in base64url: 22 characters',
        examples: ['BTBZMqHH6r4Tts7J_aSIgg'],
      }),
    }),
  },
  { description: 'What `PushSubscription.toJSON()` of the browser returns.' },
)

export const PushSchema = Type.Object({
  businessId: Type.Optional(
    Type.String({ description: 'The id of the business of the page. You can leave it out with a publishable key.' }),
  ),
  visitorId: Type.Optional(browserVisitorId),
  subscription: Type.Optional(SubscriptionSchema),
  unsubscribe: Type.Optional(
    Type.Boolean({ description: 'True: the browser takes no more push messages. Without a `subscription`.' }),
  ),
})

export type PushBody = Static<typeof PushSchema>
