/** The body of `identify`. */
import { type Static, Type } from '@sinclair/typebox'
import { optionalText, visitorId, businessId, IdentitySchema, traits, instant, ageMs } from '../body-fields.ts'

const PROFILE_LENGTH = 256

export const ProfileSchema = Type.Object({
  name: optionalText(PROFILE_LENGTH, 'The whole name: split into first word and rest.', 'Ada Lovelace'),
  firstName: optionalText(PROFILE_LENGTH, 'Wins over name.'),
  lastName: optionalText(PROFILE_LENGTH, 'Wins over name.'),
  country: optionalText(PROFILE_LENGTH, 'Free form.', 'GB'),
  city: optionalText(PROFILE_LENGTH, 'Free form.', 'London'),
  language: optionalText(PROFILE_LENGTH, 'A BCP 47 tag.', 'en'),
  timezone: optionalText(PROFILE_LENGTH, 'An IANA zone name.', 'Europe/London'),
})

export const IdentifySchema = Type.Object({
  identity: IdentitySchema,
  profile: Type.Optional(ProfileSchema),
  traits,
  occurredAt: instant(' Since when the traits hold; without a secret key it is ignored, as they are.'),
  method: optionalText(64, 'How the person was identified, in your words.', 'signup'),
  visitorId,
  ageMs: Type.Optional({
    ...ageMs,
    description:
      'For a page that sends the call late: how many milliseconds ago it was made, by the clock of the browser.',
  }),
  businessId: Type.Optional({
    ...businessId,
    description:
      'Without a key: names the business, and is required. With one: must be the business that it belongs to.',
  }),
})

export type IdentifyBody = Static<typeof IdentifySchema>
