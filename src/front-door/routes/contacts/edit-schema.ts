/** The body of an edit. */
import { Type } from '@sinclair/typebox'
import { text, traits } from '../body-fields.ts'

const tagsOf = (description: string, example: string) =>
  Type.Optional(Type.Array(text(1, 64, 'A tag.'), { maxItems: 50, description, examples: [[example]] }))

/** What an operator sets of a contact. Nulls in the profile mean something: it is read by hand (read-edit.ts). */
export const EditSchema = Type.Object({
  profile: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Strings as in identify, which replace what is there; null clears. name sets firstName and lastName. An unknown language or ' +
        'timezone is 400.',
      examples: [{ firstName: 'Ada', city: null }],
    }),
  ),
  traits,
  addTags: tagsOf('Added, up to 1,000 of a contact.', 'vip'),
  removeTags: tagsOf('Removed. A repeat of an idempotency key does not bring them back.', 'trial'),
})
