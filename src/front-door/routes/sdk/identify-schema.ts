/** The body of `identify`. */
import { type Static, Type } from '@sinclair/typebox'
import { MAX_BATCH } from './batch-items.ts'
import { optionalText, visitorId, businessId, IdentitySchema, traits, instant, ageMs } from '../body-fields.ts'

const PROFILE_LENGTH = 256

export const ProfileSchema = Type.Object({
  name: optionalText(PROFILE_LENGTH, 'The full name. It is split into the first word and the rest.', 'Ada Lovelace'),
  firstName: optionalText(PROFILE_LENGTH, 'Takes precedence over `name`.'),
  lastName: optionalText(PROFILE_LENGTH, 'Takes precedence over `name`.'),
  country: optionalText(PROFILE_LENGTH, 'Free text.', 'GB'),
  city: optionalText(PROFILE_LENGTH, 'Free text.', 'London'),
  language: optionalText(PROFILE_LENGTH, 'A BCP 47 tag.', 'en'),
  timezone: optionalText(PROFILE_LENGTH, 'An IANA zone name.', 'Europe/London'),
})

const fields = {
  identity: IdentitySchema,
  profile: Type.Optional(ProfileSchema),
  traits,
  occurredAt: instant(' The time from which the traits are valid. Ignored without a secret key, as the traits are.'),
  method: optionalText(64, 'How the person was identified, in your own words.', 'signup'),
}

export const IdentifySchema = Type.Object({
  ...fields,
  visitorId,
  ageMs: Type.Optional({
    ...ageMs,
    description:
      'For calls that a page sends late: how many milliseconds ago the call was made, by the clock of the browser.',
  }),
  businessId: Type.Optional({
    ...businessId,
    description: 'Required without a key: the id of the business. With a key: must be the business of the key.',
  }),
})

export type IdentifyBody = Static<typeof IdentifySchema>

export const IdentifyBatchSchema = Type.Object({
  identifies: Type.Array(Type.Object({ ...fields, businessId }), { minItems: 1, maxItems: MAX_BATCH }),
})

/** The outer shape of a batch. Its items are checked one by one, and fail individually. */
export const IdentifyBatchFrameSchema = Type.Object({
  identifies: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
})
