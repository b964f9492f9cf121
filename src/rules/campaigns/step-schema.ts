/** Steps in the OpenAPI document. */
import { type TSchema, Type } from '@sinclair/typebox'
import { MAX_TAG, MAX_TAGS_OF_CALL } from '../events/tags.ts'
import { MAX_TRAIT } from '../events/traits.ts'
import { MESSAGE_CHANNELS } from '../messages/message-channel.ts'
import { closed, oneOf, uuid } from '../schemas.ts'
import { MAX_WHERE } from '../segments/grammar/limits.ts'
import { PropertyConditionSchema, RuleSchema } from '../segments/grammar/rule-schema.ts'
import { MAX_TOPIC_KEY, TOPIC_KEY } from '../topics/topic.ts'
import { MAX_EVENT, MAX_PARTS, MAX_STEP_ID } from './definition.ts'
import { MAX_KEY_PATH } from './key-path.ts'
import { ISO_DURATION } from './read-duration.ts'
import { MAX_SENDER_KEY, SENDER_KEY } from './read-senders.ts'
import { TIME } from './read-words.ts'
import {
  type FieldKind,
  MESSAGE_KINDS,
  type NamedField,
  STEP_TYPES,
  type StepField,
  type StepType,
  fieldsOf,
} from './steps.ts'
import { WAIT_TYPES, waitFieldsOf } from './step-waits.ts'

/** Makes a field optional that callers may omit and that answers always contain. */
export type Optional = (schema: TSchema) => TSchema
export const inAnswers: Optional = (schema) => schema

export const time = Type.String({ pattern: TIME.source, description: 'Local, such as 09:00.' })
export const channel = oneOf(MESSAGE_CHANNELS)
export const topicKey = Type.String({
  pattern: TOPIC_KEY.source,
  maxLength: MAX_TOPIC_KEY,
  description: 'The key of a topic.',
})
export const senderKey = Type.String({
  pattern: SENDER_KEY.source,
  maxLength: MAX_SENDER_KEY,
  description: 'Key of a sender of the channel. Left out: the next one that is named, or the default.',
})
const traitValue = Type.Union([Type.String({ maxLength: MAX_TRAIT }), Type.Number(), Type.Boolean(), Type.Null()])

/** For goals, too. */
export const conditionSchemas = {
  where: Type.Array(PropertyConditionSchema, {
    maxItems: MAX_WHERE,
    description: 'All must hold of the event. As the `where` of a segment: see `docs/segments.md`.',
  }),
  sameKey: Type.Union([Type.Literal(true), Type.String({ minLength: 1, maxLength: MAX_KEY_PATH })], {
    description:
      'The event counts if it carries the key of the enrolment: at this path in its properties, or, with `true`, at the path of `enrolPer`.',
  }),
}

/** `steps`: a list of steps. */
const KINDS: Record<FieldKind, (steps: TSchema, optional: Optional) => TSchema> = {
  channel: () => channel,
  template: () => uuid,
  messageKind: () => oneOf(MESSAGE_KINDS),
  topic: () => topicKey,
  sender: () => senderKey,
  duration: () =>
    Type.String({
      pattern: ISO_DURATION.source,
      description: 'ISO 8601: weeks, days of 24 hours, hours, minutes, seconds; above zero and at most P365D.',
    }),
  time: () => time,
  weekdays: () =>
    Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: '1 is Monday. Left out: every day.',
    }),
  event: () => Type.String({ minLength: 1, maxLength: MAX_EVENT }),
  where: () => conditionSchemas.where,
  sameKey: () => conditionSchemas.sameKey,
  rule: () => RuleSchema,
  steps: (steps) => steps,
  parts: (steps, optional) => {
    const percent = Type.Number({ minimum: 0.01, maximum: 100, description: 'In steps of 0.01.' })
    const inner = optional({ ...steps, description: 'The steps of this part.' })
    return Type.Array(Type.Object({ percent, steps: inner }, closed), {
      minItems: 1,
      maxItems: MAX_PARTS,
      description: 'The percentages add up to 100.',
    })
  },
  tags: () => Type.Array(Type.String({ minLength: 1, maxLength: MAX_TAG }), { maxItems: MAX_TAGS_OF_CALL }),
  traits: () =>
    Type.Record(Type.String(), traitValue, {
      description: 'Custom fields, as in the traits of an event; null clears one.',
    }),
}

/** Any step, with the steps inside it. */
const stepOf = (optional: Optional) =>
  Type.Recursive((This) => Type.Union(STEP_TYPES.map((type) => schemaOf(type, Type.Array(This), optional))), {
    $id: 'Step',
  })

function schemaOf(type: StepType, steps: TSchema, optional: Optional): TSchema {
  const id = optional(Type.String({ minLength: 1, maxLength: MAX_STEP_ID }))
  return Type.Object({ id, type: Type.Literal(type), ...schemasOf(fieldsOf(type), steps, optional) }, closed)
}

const schemasOf = (fields: NamedField[], steps: TSchema, optional: Optional): Record<string, TSchema> =>
  Object.fromEntries(
    fields.map(([name, field]) => {
      const schema = describe(KINDS[field.kind](steps, optional), field)
      if (field.isOptional) return [name, Type.Optional(schema)]
      return [name, field.default === undefined ? schema : optional(schema)]
    }),
  )

function describe(schema: TSchema, { description }: StepField): TSchema {
  const descriptions = [description, schema.description].filter((one) => one !== undefined)
  return descriptions.length === 0 ? schema : { ...schema, description: descriptions.join(' ') }
}

export const stepsOf = (optional: Optional, description: string) => Type.Array(stepOf(optional), { description })

/** What an enrolment waits for at a step, in the answer of `explain`. */
export const waitSchemas = (): TSchema[] =>
  WAIT_TYPES.map((type) =>
    Type.Object({ type: Type.Literal(type), ...schemasOf(waitFieldsOf(type), Type.Never(), inAnswers) }, closed),
  )
