/** The body of an edit. */
import { Type } from '@sinclair/typebox'
import { MAX_OF_A_KIND } from '../../../rules/limits.ts'
import { text, traits } from '../body-fields.ts'

const tagsOf = (description: string, example: string) =>
  Type.Optional(Type.Array(text(1, 64, 'A tag.'), { maxItems: 50, description, examples: [[example]] }))

const valuesOf = (maxLength: number) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength }), { maxItems: MAX_OF_A_KIND }))

/** Changes to a contact. Nulls in the profile clear fields, so read-edit.ts reads the profile itself. */
export const EditSchema = Type.Object({
  profile: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Strings as in identify. They replace the stored values; null clears. `name` sets firstName and lastName. An unknown ' +
        'language or timezone gets 400.',
      examples: [{ firstName: 'Ada', city: null }],
    }),
  ),
  traits,
  addTags: tagsOf('Tags to add. A contact has at most 1,000.', 'vip'),
  removeTags: tagsOf('Tags to remove. An event with a known idempotency key does not add them again.', 'trial'),
  primaryEmail: Type.Optional(
    text(3, 320, "One of the contact's emails: messages go to it from now on. It counts as proven.", 'ada@example.com'),
  ),
  primaryPhone: Type.Optional(
    text(1, 64, "One of the contact's phones, in any format. As `primaryEmail`.", '+972501234567'),
  ),
  removeIdentities: Type.Optional(
    Type.Object(
      { email: valuesOf(320), phone: valuesOf(64) },
      {
        description:
          'Values that the contact loses: they find nobody from now on, and no message goes to them. At least one identity must ' +
          'stay. A value that was stored by earlier rules is removed as it is shown. Of the others, the one that was made ' +
          'primary last is primary, or else the one that was sent first. Any other field here gets 400, unlike in the rest of the ' +
          'body: a customer id cannot be removed.',
        examples: [{ email: ['old@example.com'] }],
      },
    ),
  ),
})
