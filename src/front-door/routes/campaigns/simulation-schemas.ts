/** Schemas of the body and the answer of a simulation. */
import { Type } from '@sinclair/typebox'
import { CHANNELS } from '../../../rules/events/facts.ts'
import { MESSAGE_CHANNELS } from '../../../rules/messages/message-channel.ts'
import { SKIP_REASONS } from '../../../rules/messages/message-reasons.ts'
import { MAX_TAGS } from '../../../rules/limits.ts'
import { IdentitySchema, text } from '../body-fields.ts'
import { closed, dateTime, oneOf, orNull } from '../reply-fields.ts'
import { ProfileSchema } from '../sdk/identify-schema.ts'
import { RenderedMessageSchema } from '../templates/schemas.ts'

export const MAX_ANSWERS = 100

const { email, phone } = IdentitySchema.properties
const properties = Type.Optional(Type.Record(Type.String(), Type.Unknown()))
const instantOf = (description: string) =>
  Type.Union([Type.String(), Type.Number()], {
    description: `${description} ISO 8601 (UTC without an offset), or epoch milliseconds.`,
    examples: ['2026-03-01T09:30:00Z', 1_772_357_400_000],
  })

const MadeUpSchema = Type.Object(
  {
    ...ProfileSchema.properties,
    email,
    phone,
    tags: Type.Optional(Type.Array(text(1, 64, 'A tag.'), { maxItems: MAX_TAGS })),
    customFields: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
    ),
    subscriptions: Type.Optional(
      Type.Object(Object.fromEntries(CHANNELS.map((channel) => [channel, Type.Optional(Type.Boolean())])), {
        description: 'A channel that is left out has an opt-in.',
      }),
    ),
  },
  { description: 'A person who is made up, without any history.' },
)

export const SimulateSchema = Type.Object({
  contactId: Type.Optional(
    Type.String({ description: 'A contact of the business, as it is now. Either this or `contact` is required.' }),
  ),
  contact: Type.Optional(MadeUpSchema),
  event: Type.Optional(
    Type.Object(
      { name: text(1, 64, 'Its name.', 'signup'), properties },
      { description: 'The triggering event, for templates. When left out: the trigger of the campaign.' },
    ),
  ),
  from: Type.Optional(instantOf('The instant of the enrolment, from 1970 to 2099. When left out: now.')),
  answers: Type.Optional(
    Type.Array(
      Type.Object({
        event: text(1, 64, 'The name of the event.', 'invoice_paid'),
        at: instantOf('Its date, at which it arrives. Not before `from`.'),
        properties,
      }),
      { maxItems: MAX_ANSWERS, description: 'What the contact does meanwhile, in any order.' },
    ),
  ),
})

export const SimulationData = Type.Object(
  {
    sends: Type.Array(
      Type.Object(
        {
          stepId: Type.String(),
          at: dateTime,
          channel: oneOf(MESSAGE_CHANNELS),
          state: oneOf(['sent', 'skipped', 'failed'] as const),
          reason: orNull(oneOf([...SKIP_REASONS, 'template_failed'] as const)),
          detail: orNull(Type.String({ description: 'Why the template cannot be rendered.' })),
          message: orNull(RenderedMessageSchema),
        },
        closed,
      ),
      { description: 'In order of their instants.' },
    ),
    state: oneOf(['active', 'finished', 'converted'] as const),
    endsAt: orNull(dateTime),
  },
  closed,
)
