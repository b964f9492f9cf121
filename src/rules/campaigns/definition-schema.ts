/**
 * The definition of a campaign in the OpenAPI document. `readDefinition` checks what callers send: it handles nested
 * steps, names the step in each fault, and distinguishes null from absent.
 */
import { type TSchema, Type } from '@sinclair/typebox'
import { MESSAGE_CHANNELS } from '../messages/message-channel.ts'
import { closed, oneOf, uuid } from '../schemas.ts'
import {
  CAP_ACTIONS,
  MAX_AT_MOST,
  MAX_CAPS,
  MAX_CAP_DAYS,
  MAX_EVENT,
  MAX_HOLD_OUT,
  MAX_LEVELS,
  MAX_PARTS,
  MAX_STEPS,
  MAX_STEP_ID,
  QUIET_HOURS_OF_BUSINESS,
} from './definition.ts'
import { MESSAGE_KINDS, type StepType } from './steps.ts'

const time = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'Local, such as 09:00.' })
const duration = (description: string) =>
  Type.String({
    description: `${description} ISO 8601: weeks, days of 24 hours, hours, minutes, seconds; at most P365D.`,
  })
const event = Type.String({ minLength: 1, maxLength: MAX_EVENT })
const channel = oneOf(MESSAGE_CHANNELS)
const weekdays = Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
  minItems: 1,
  maxItems: 7,
  description: '1 is Monday. Left out: every day.',
})
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50 })
const traits = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Custom fields, as in the traits of an event; null clears one.',
})
const rule = Type.Record(Type.String(), Type.Unknown(), {
  description: 'As the rule of a segment: see `docs/segments.md`.',
})
const inner = (when: string) =>
  Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: `The steps ${when}, of the same forms.` })
const percent = Type.Number({ minimum: 0.01, maximum: 100, description: 'In steps of 0.01.' })

export const QuietHoursSchema = Type.Object({ from: time, to: time }, closed)

const capOf = (optional: (schema: TSchema) => TSchema) =>
  Type.Object(
    {
      channel,
      atMost: Type.Integer({ minimum: 1, maximum: MAX_AT_MOST }),
      days: Type.Number({ exclusiveMinimum: 0, maximum: MAX_CAP_DAYS, description: 'A rolling window.' }),
      whenReached: optional(oneOf(CAP_ACTIONS)),
    },
    closed,
  )

/**
 * @param optional makes a field optional that callers may omit and that answers always contain
 * @param hours the forms of quiet hours
 */
function definitionOf(optional: (schema: TSchema) => TSchema, hours: TSchema[]) {
  const step = (type: StepType, fields: Record<string, TSchema>) =>
    Type.Object(
      { id: optional(Type.String({ minLength: 1, maxLength: MAX_STEP_ID })), type: Type.Literal(type), ...fields },
      closed,
    )
  const steps = Type.Union([
    step('send', { channel, template: uuid, kind: optional(oneOf(MESSAGE_KINDS)) }),
    step('wait', { for: duration('How long.') }),
    step('wait_until', { time, weekdays: Type.Optional(weekdays) }),
    step('wait_for', {
      event,
      timeout: duration('How long at most.'),
      steps: optional(inner('after the event')),
      otherwise: optional(inner('after the time-out')),
    }),
    step('branch', {
      rule,
      steps: optional(inner('if the rule is true')),
      otherwise: optional(inner('if it is not')),
    }),
    step('split', {
      parts: Type.Array(Type.Object({ percent, steps: optional(inner('of this part')) }, closed), {
        minItems: 1,
        maxItems: MAX_PARTS,
        description: 'The percents are 100 together.',
      }),
    }),
    step('update', { addTags: optional(tags), removeTags: optional(tags), traits: optional(traits) }),
    step('exit', {}),
  ])
  return {
    steps: optional(
      Type.Array(steps, {
        description: `Run from top to bottom; at most ${MAX_STEPS} with those inside, on ${MAX_LEVELS} levels.`,
      }),
    ),
    quietHours: Type.Optional(
      Type.Union([QuietHoursSchema, Type.Null(), ...hours], {
        description:
          'Local time of the contact. `from` is in, `to` is out; null: none. To use those of the business, leave it out in a new campaign, or send `default`. An answer leaves it out then.',
      }),
    ),
    caps: optional(Type.Array(capOf(optional), { maxItems: MAX_CAPS, description: 'Besides those of the business.' })),
    holdOut: optional(
      Type.Number({
        minimum: 0,
        maximum: MAX_HOLD_OUT,
        description: 'Percentage of contacts held out as a control group; at most two decimals.',
      }),
    ),
    tracking: optional(
      Type.Object(
        { opens: optional(Type.Boolean()), clicks: optional(Type.Boolean()) },
        {
          ...closed,
          description: 'Whether opens of its mails, and clicks on their links, become events. Default: both.',
        },
      ),
    ),
  }
}

/** Fields of requests. */
export const SentDefinition = definitionOf(Type.Optional, [Type.Literal(QUIET_HOURS_OF_BUSINESS)])

/** Fields of answers. */
export const DefinitionReply = definitionOf((schema) => schema, [])

export const SentCaps = Type.Array(capOf(Type.Optional), { maxItems: MAX_CAPS })
export const CapsReply = Type.Array(
  capOf((schema) => schema),
  { maxItems: MAX_CAPS },
)
