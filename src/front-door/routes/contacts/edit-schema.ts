/** The body of an edit. */
import { Type } from '@sinclair/typebox'
import { text, traits } from '../body-fields.ts'

const tagsOf = (description: string, example: string) =>
  Type.Optional(Type.Array(text(1, 64, 'A tag.'), { maxItems: 50, description, examples: [[example]] }))

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
})
