/**
 * The definition of a campaign in the OpenAPI document. `readDefinition` checks what callers send: it names the step in
 * each fault, and distinguishes null from absent.
 */
import { type TSchema, Type } from '@sinclair/typebox'
import { MESSAGE_CHANNELS } from '../messages/message-channel.ts'
import { closed, oneOf } from '../schemas.ts'
import {
  CAP_ACTIONS,
  MAX_AT_MOST,
  MAX_CAPS,
  MAX_CAP_DAYS,
  MAX_HOLD_OUT,
  MAX_LEVELS,
  MAX_STEPS,
  QUIET_HOURS_OF_BUSINESS,
} from './definition.ts'
import { type Optional, channel, inAnswers, senderKey, stepsOf, topicKey, time } from './step-schema.ts'

export const QuietHoursSchema = Type.Object({ from: time, to: time }, closed)

const capOf = (optional: Optional) =>
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
 * @param hours the forms of quiet hours
 */
function definitionOf(optional: Optional, hours: TSchema[]) {
  return {
    steps: optional(
      stepsOf(optional, `Run from top to bottom; at most ${MAX_STEPS} with those inside, on ${MAX_LEVELS} levels.`),
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
    topic: Type.Optional({
      ...topicKey,
      description: 'The topic of its messages that name none, by the channels that the topic has. Null: none.',
    }),
    senders: Type.Optional(
      Type.Partial(Type.Object(Object.fromEntries(MESSAGE_CHANNELS.map((one) => [one, senderKey])), closed), {
        description: 'The senders of its messages, by channel. A step that names one goes before.',
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
export const DefinitionReply = definitionOf(inAnswers, [])

export const SentCaps = Type.Array(capOf(Type.Optional), { maxItems: MAX_CAPS })
export const CapsReply = Type.Array(capOf(inAnswers), { maxItems: MAX_CAPS })
