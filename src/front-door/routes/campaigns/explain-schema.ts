/** Schema of the answer of `explain`. */
import { Type } from '@sinclair/typebox'
import { MAX_EXPLAINED } from '../../../campaigns/explain-campaign.ts'
import { CapsReply, QuietHoursSchema } from '../../../rules/campaigns/definition-schema.ts'
import { NOT_ENTERED } from '../../../rules/campaigns/explain-triggers.ts'
import { SETTERS, type SetBy } from '../../../rules/campaigns/messaging.ts'
import { waitSchemas } from '../../../rules/campaigns/step-schema.ts'
import { MESSAGE_KINDS } from '../../../rules/campaigns/steps.ts'
import { MESSAGE_CHANNELS } from '../../../rules/messages/message-channel.ts'
import { messageFields } from '../messages/schemas.ts'
import { ENROLMENT_EXAMPLE, MESSAGE_EXAMPLE } from '../../openapi/examples.ts'
import { closed, count, dateTime, oneOf, orNull } from '../reply-fields.ts'
import { enrolmentFields } from './schemas.ts'

const text = Type.String()
const setBy = Type.Unsafe<SetBy>({
  ...oneOf(SETTERS),
  description: 'Which level set them: the campaign or the business.',
})
const channel = oneOf(MESSAGE_CHANNELS)

const heldBy = [
  Type.Object({ type: Type.Literal('quiet_hours'), from: text, to: text }, closed),
  Type.Object({ type: Type.Literal('cap'), channel, atMost: Type.Integer(), days: Type.Number() }, closed),
  Type.Object({ type: Type.Literal('per_second'), channel, perSecond: Type.Integer() }, closed),
  Type.Object({ type: Type.Literal('daily_budget'), channel, dailyBudget: Type.Integer() }, closed),
  Type.Object({ type: Type.Literal('channel_paused'), channel }, closed),
]

const waitsFor = Type.Union(
  [
    ...waitSchemas(),
    ...heldBy,
    Type.Object({ type: Type.Literal('retry'), attempts: count }, closed),
    Type.Object({ type: Type.Literal('timeline') }, closed),
    Type.Object({ type: Type.Literal('update') }, closed),
    Type.Object({ type: Type.Literal('sending') }, closed),
    Type.Object({ type: Type.Literal('resume') }, closed),
    Type.Object({ type: Type.Literal('goal'), event: text }, closed),
    Type.Null(),
  ],
  {
    description:
      'A step, quiet hours, a cap, a limit or a pause of the channel with their fields; `retry`: the next attempt at its message; `timeline`: ' +
      'the counts and sums of a branch; `update`: its change of the contact waits with the live events; `sending`: its message is being handed over; `resume`: the end of a pause; ' +
      '`goal`: the campaign has no steps. Null: it has ended, or is being moved on.',
  },
)

const checked = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'Of the latest claim.' }),
    dueAt: Type.String({ format: 'date-time', description: 'When the enrolment fell due.' }),
    waited: Type.Object(
      { stepId: text, since: dateTime, heldBy: Type.Union([...heldBy, Type.Null()]) },
      { ...closed, description: 'Where it had waited until then.' },
    ),
    key: orNull(Type.String({ description: 'Of the enrolment, such as an order. Null: it has none.' })),
    kind: oneOf(MESSAGE_KINDS),
    goal: orNull(
      Type.Object(
        { event: text, lastAt: orNull(dateTime) },
        { ...closed, description: 'Null: the campaign has none. `lastAt`: the latest one of the contact.' },
      ),
    ),
    heldOut: Type.Boolean(),
    consent: orNull(
      Type.Object(
        { subscribed: Type.Boolean(), at: dateTime, method: text },
        { ...closed, description: 'The latest choice for the channel.' },
      ),
    ),
    topic: orNull(
      Type.Object(
        {
          key: text,
          subscribed: Type.Boolean(),
          from: oneOf(['choice', 'default']),
          at: orNull(dateTime),
          method: orNull(text),
        },
        {
          ...closed,
          description: 'The topic of the message, and whether the contact gets it: by its choice, or by the default.',
        },
      ),
    ),
    suppressed: Type.Boolean(),
    zone: text,
    quietHours: orNull(QuietHoursSchema),
    quietHoursSetBy: setBy,
    isImmediate: Type.Boolean({ description: 'Quiet hours do not hold the message.' }),
    window: orNull(
      Type.Object(
        { from: dateTime, until: orNull(dateTime) },
        {
          ...closed,
          description: 'When it may go out, and until which quiet hours. Null: quiet hours do not hold it.',
        },
      ),
    ),
    caps: Type.Array(Type.Composite([CapsReply.items, Type.Object({ setBy, counted: count })], closed), {
      description: 'Of the channel. `counted`: the messages that counted then.',
    }),
  },
  { ...closed, description: 'What the latest claim looked at.' },
)

export const ExplanationData = Type.Object(
  {
    triggers: Type.Array(
      Type.Object(
        {
          event: orNull(text),
          at: dateTime,
          key: orNull(
            Type.String({
              description: 'Null: the campaign enrols once for each contact, or the event has no key.',
            }),
          ),
          entered: Type.Boolean(),
          reason: orNull(oneOf([...NOT_ENTERED, 'chain_too_long'])),
        },
        closed,
      ),
      {
        description: `The newest ${MAX_EXPLAINED} events of the trigger's name, by their dates, newest first. If a segment triggers (\`event\` is null): the latest change that came after too many enrolments of one chain.`,
      },
    ),
    enrolments: Type.Array(Type.Object({ ...enrolmentFields, waitsFor }, closed), {
      description: `The newest ${MAX_EXPLAINED}, newest first.`,
    }),
    sends: Type.Array(Type.Object({ ...messageFields, checked }, closed), {
      description: `The newest ${MAX_EXPLAINED}, newest first.`,
    }),
  },
  closed,
)

const { enrolledAt } = ENROLMENT_EXAMPLE
export const EXPLANATION_EXAMPLE = {
  triggers: [
    { event: 'signup', at: '2026-03-02T08:00:00.000Z', key: null, entered: false, reason: 'already_active' },
    { event: 'signup', at: enrolledAt, key: null, entered: true, reason: null },
  ],
  enrolments: [{ ...ENROLMENT_EXAMPLE, waitsFor: { type: 'wait', for: 'P3D' } }],
  sends: [
    {
      ...MESSAGE_EXAMPLE,
      checked: {
        at: '2026-03-01T09:30:00.500Z',
        dueAt: '2026-03-01T09:30:00.120Z',
        waited: { stepId: 'hello', since: '2026-03-01T09:30:00.120Z', heldBy: null },
        key: null,
        kind: 'marketing',
        goal: { event: 'invoice_paid', lastAt: null },
        heldOut: false,
        consent: { subscribed: true, at: '2026-02-20T18:04:11.000Z', method: 'form' },
        topic: null,
        suppressed: false,
        zone: 'Europe/London',
        quietHours: { from: '21:00', to: '09:00' },
        quietHoursSetBy: 'business',
        isImmediate: true,
        window: null,
        caps: [{ channel: 'email', atMost: 3, days: 7, whenReached: 'wait', setBy: 'campaign', counted: 1 }],
      },
    },
  ],
}
