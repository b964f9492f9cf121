/** Schemas of the bodies and the answers of the routes about topics. `read-topic.ts` checks the bodies. */
import { Type } from '@sinclair/typebox'
import { CHANNELS } from '../../../rules/events/facts.ts'
import {
  MAX_TOPIC_DESCRIPTION,
  MAX_TOPIC_KEY,
  MAX_TOPIC_LANGUAGES,
  MAX_TOPIC_NAME,
  MAX_TOPIC_POSITION,
  TOPIC_DEFAULTS,
  TOPIC_KEY,
  TOPIC_STATUSES,
  TOPIC_VISIBILITIES,
} from '../../../rules/topics/topic.ts'
import { closed, count, oneOf, orNull, uuid } from '../reply-fields.ts'

const key = Type.String({
  pattern: TOPIC_KEY.source,
  maxLength: MAX_TOPIC_KEY,
  description: 'It never changes.',
})
const name = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: MAX_TOPIC_NAME }),
    description: Type.Optional(Type.String({ maxLength: MAX_TOPIC_DESCRIPTION })),
  },
  closed,
)
const channels = Type.Array(oneOf(CHANNELS), {
  minItems: 1,
  uniqueItems: true,
  description: 'They may grow, and never shrink.',
})
const byDefault = oneOf(TOPIC_DEFAULTS, {
  description:
    '`subscribed`: all who have opted in to the channel get it, until they leave it. `unsubscribed`: only those who choose it. It never changes.',
})
const visibility = oneOf(TOPIC_VISIBILITIES, {
  description: 'The preference page shows a `private` topic only to those who get it.',
})
const names = Type.Record(Type.String(), name, {
  minProperties: 1,
  maxProperties: MAX_TOPIC_LANGUAGES,
  description: 'By language, such as `en` or `pt-BR`.',
})
const position = Type.Integer({
  minimum: 0,
  maximum: MAX_TOPIC_POSITION,
  description: 'Topics are shown by position, then by key.',
})
const confirmationTemplate = orNull(uuid)

export const TopicSchema = Type.Object(
  {
    key,
    channels,
    default: byDefault,
    visibility,
    names: Type.Record(Type.String({ pattern: '^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$' }), name),
    defaultLanguage: Type.String(),
    position,
    confirmationTemplate,
    status: oneOf(TOPIC_STATUSES),
  },
  closed,
)

const changeable = {
  visibility: Type.Optional(visibility),
  defaultLanguage: Type.Optional(Type.String({ description: 'One of the languages of `names`.' })),
  position: Type.Optional(position),
  confirmationTemplate: Type.Optional({
    ...confirmationTemplate,
    description: 'The template of the mail that asks for the confirmation of an opt-in. Null: that of the business.',
  }),
}

export const NewTopicSchema = Type.Object({ key, channels, default: byDefault, names, ...changeable })
export const TopicChangeSchema = Type.Object({
  channels: Type.Optional(channels),
  names: Type.Optional(names),
  ...changeable,
  status: Type.Optional(oneOf(TOPIC_STATUSES)),
})

export const TopicsData = Type.Object({ topics: Type.Array(TopicSchema) }, closed)
export const TopicData = Type.Object({ topic: TopicSchema }, closed)
export const DeletedTopicData = Type.Object({ key }, closed)

const subscribers = Type.Object(Object.fromEntries(CHANNELS.map((channel) => [channel, Type.Optional(count)])), {
  ...closed,
  description: 'How many contacts get it by each of its channels.',
})
const campaign = Type.Object({ campaignId: uuid, name: Type.String(), status: Type.String() }, closed)
export const TopicUsesData = Type.Object(
  { subscribers, campaigns: Type.Array(campaign, { description: 'Those that name it, without archived ones.' }) },
  closed,
)
