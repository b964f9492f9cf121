/** Schemas of the bodies and answers of the campaign routes. */
import { type TSchema, Type } from '@sinclair/typebox'
import { ENROLMENT_STATES } from '../../../campaigns/list-enrolments.ts'
import { CAMPAIGN_STATUSES } from '../../../campaigns/campaign.ts'
import { MAX_DAYS } from '../../../campaigns/read-outcomes.ts'
import { MAX_NAME } from '../../../campaigns/create-campaign.ts'
import { TRIGGER_SOURCES } from '../../../rules/campaigns/event-trigger.ts'
import { WHILE_ACTIVE } from '../../../rules/campaigns/while-active.ts'
import { MAX_KEY_PATH } from '../../../rules/campaigns/key-path.ts'
import { conditionSchemas } from '../../../rules/campaigns/step-schema.ts'
import { DefinitionReply, SentDefinition } from '../../../rules/campaigns/definition-schema.ts'
import { WEB_TRIGGER_NAMES } from '../../../rules/campaigns/web-trigger.ts'
import { SKIPPED_REASONS } from '../../../rules/messages/message-reasons.ts'
import { MAX_WHERE } from '../../../rules/segments/grammar/limits.ts'
import { PropertyConditionSchema } from '../../../rules/segments/grammar/rule-schema.ts'
import { text } from '../body-fields.ts'
import { MAX_DAYS_AHEAD } from './read-trigger.ts'
import { closed, count, dateTime, nextCursor, oneOf, orNull, uuid, warningList } from '../reply-fields.ts'

const triggerEvent = text(1, 64, 'Starts the campaign for each live event of this name.', 'signup')
const segment = Type.String({ format: 'uuid', description: 'The segment that starts the campaign.' })
const CHANGES = ['enter', 'leave'] as const

const conditionsOnEvents = {
  where: Type.Optional(
    Type.Array(PropertyConditionSchema, {
      maxItems: MAX_WHERE,
      description: 'All must hold of the event. As the `where` of a segment: see `docs/segments.md`.',
    }),
  ),
  sources: Type.Optional(
    Type.Array(oneOf(TRIGGER_SOURCES), {
      minItems: 1,
      maxItems: 1,
      description: '`["live"]`: events from servers alone. Left out: those of pages, too.',
    }),
  ),
}

const conditionsOnPages = {
  where: Type.Optional(
    Type.Array(PropertyConditionSchema, {
      maxItems: MAX_WHERE,
      description:
        'All must hold of the page view. `property`: `path`, `host`; `depth` of `scroll_depth`; `seconds` of `active_time`.',
    }),
  ),
}
const web = oneOf(WEB_TRIGGER_NAMES)

const sentTrigger = Type.Union([
  Type.Object({ event: triggerEvent, ...conditionsOnEvents }, closed),
  Type.Object({ web, ...conditionsOnPages }, closed),
  Type.Object({ segment, on: oneOf(CHANGES) }),
  Type.Object({
    segment: Type.String({ format: 'uuid', description: 'Each member of one instant is enrolled once.' }),
    on: Type.Literal('members'),
    at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: `When; at most ${MAX_DAYS_AHEAD} days ahead. Left out, or past: at the publish.`,
      }),
    ),
  }),
])

const goalEvent = text(1, 64, 'Ends the enrolment as converted.', 'invoice_paid')
const property = Type.String({
  minLength: 1,
  maxLength: MAX_KEY_PATH,
  description: 'A path in the properties of the trigger event, such as `order.id`.',
})
const conditionsOnGoal = {
  where: Type.Optional(conditionSchemas.where),
  sameKey: Type.Optional(conditionSchemas.sameKey),
}
const enrolPer = Type.Union([Type.Literal('contact'), Type.Object({ property }, closed)], {
  description:
    'What the campaign enrols once for: the contact (the default), or each value of a property of the trigger event, such as an order. The value is a text of 1 to 200 characters or a number; an event without one enrols nobody.',
})
const whileActive = oneOf(WHILE_ACTIVE, {
  description:
    'What a trigger event does while its key is enrolled. `ignore`: nothing. `update`: templates read it. `restart`: that, and an enrolment without a message begins again.',
})

const fieldsWith = <Trigger extends TSchema, Goal extends TSchema, Per extends TSchema>(
  trigger: Trigger,
  goal: Goal,
  enrolPer: Per,
) => ({
  name: text(1, MAX_NAME, 'A name for people.', 'Welcome'),
  trigger,
  canEnterAgain: Type.Optional(
    Type.Boolean({
      description: 'True: a contact can be enrolled again after its earlier enrolment has ended. Default: false.',
    }),
  ),
  enrolPer: Type.Optional(enrolPer),
  whileActive: Type.Optional(whileActive),
  goal: Type.Optional(goal),
})

/** The part that the schema checks; `readTrigger` and `readDefinition` check the rest. */
const checkedTrigger = Type.Union([
  Type.Object({ event: triggerEvent }),
  Type.Object({ web }),
  Type.Object({ segment, on: oneOf([...CHANGES, 'members'] as const), at: Type.Optional(Type.Unknown()) }),
])
export const CheckedCampaignSchema = Type.Object(
  fieldsWith(checkedTrigger, Type.Object({ event: goalEvent }), Type.Unknown()),
)
export const CheckedChangeSchema = Type.Partial(CheckedCampaignSchema)

/** For the OpenAPI description. */
export const CampaignSchema = Type.Object({
  ...fieldsWith(sentTrigger, Type.Object({ event: goalEvent, ...conditionsOnGoal }), enrolPer),
  ...SentDefinition,
})
export const CampaignChangeSchema = Type.Partial(CampaignSchema)

const goalReply = Type.Object({ event: Type.String(), ...conditionsOnGoal }, closed)

const listed = {
  campaignId: uuid,
  name: Type.String(),
  status: oneOf(CAMPAIGN_STATUSES),
  version: Type.Integer({
    minimum: 1,
    description: 'Contacts follow the version of their enrolment to its end.',
  }),
  trigger: Type.Union([
    Type.Object({ event: Type.String(), ...conditionsOnEvents }, closed),
    Type.Object({ web, ...conditionsOnPages }, closed),
    Type.Object({ segment: uuid, on: oneOf(CHANGES) }, closed),
    Type.Object({ segment: uuid, on: Type.Literal('members'), at: Type.Optional(dateTime) }, closed),
  ]),
  canEnterAgain: Type.Boolean(),
  enrolPer,
  whileActive,
  goal: orNull(goalReply),
}

const campaign = Type.Object({ ...listed, ...DefinitionReply }, closed)

export const CampaignData = Type.Object({ campaign }, closed)

export const PublishedData = Type.Object({ campaign, warnings: warningList }, closed)

export const CampaignsData = Type.Object({ campaigns: Type.Array(Type.Object(listed, closed)), nextCursor }, closed)

export const DeletedCampaignData = Type.Object({ campaignId: uuid }, closed)

export const enrolmentFields = {
  enrolmentId: uuid,
  contactId: uuid,
  key: orNull(Type.String({ description: 'What it is about, such as an order. Null: the contact.' })),
  state: oneOf(ENROLMENT_STATES),
  stepId: orNull(Type.String({ description: 'Null when it has ended, or has no steps.' })),
  version: orNull(Type.Integer({ minimum: 1, description: 'Null for one without steps.' })),
  enrolledAt: dateTime,
  since: orNull(dateTime),
  nextAt: orNull(dateTime),
  endedAt: orNull(dateTime),
}

export const EnrolmentsData = Type.Object(
  { enrolments: Type.Array(Type.Object(enrolmentFields, closed)), nextCursor },
  closed,
)

const counts = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>

const conversionRate = orNull(Type.Number({ minimum: 0, maximum: 1 }))
const revenue = orNull(
  Type.Record(Type.String(), Type.Number(), {
    description:
      'By currency, net of refunds: of converted enrolments, from their instant to their end, both in. Null: it cannot be read in time.',
  }),
)
const outcome = { enrolled: count, converted: count, conversionRate, revenue }

export const ReportData = Type.Object(
  {
    report: Type.Object(
      {
        contacts: Type.Integer({ minimum: 0, description: 'How many contacts these are of.' }),
        enrolments: Type.Object({ enrolled: count, ...counts(ENROLMENT_STATES) }, closed),
        conversionRate,
        steps: Type.Array(
          Type.Object(
            {
              stepId: Type.String(),
              entered: Type.Integer({ minimum: 0, description: 'Enrolments that have reached the step.' }),
              ...counts(['claimed', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'unknown']),
              ...counts(['opened', 'clicked']),
              skipped: Type.Object(
                Object.fromEntries(SKIPPED_REASONS.map((reason) => [reason, Type.Optional(count)])),
                { ...closed, description: 'By reason. `ended`: the enrolment ended before another attempt.' },
              ),
            },
            closed,
          ),
          {
            description:
              'The steps that send. A message counts in its latest state, and in `opened` and `clicked` besides.',
          },
        ),
        revenue,
        holdOut: orNull(
          Type.Object(
            { heldOut: Type.Object(outcome, closed), others: Type.Object(outcome, closed) },
            {
              ...closed,
              description:
                'Of the versions with a hold-out, without erased persons. Null: there is none, or it cannot be read in time.',
            },
          ),
        ),
        days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...outcome }, closed), {
          maxItems: MAX_DAYS,
          description: 'By the day of the enrolment in the zone of the business; those with enrolments, oldest first.',
        }),
        broadcast: orNull(
          Type.Object(
            {
              at: dateTime,
              members: orNull(Type.Integer({ minimum: 0, description: 'Null until they are listed.' })),
              enrolled: count,
              doneAt: orNull(dateTime),
            },
            { ...closed, description: 'How far it has come. Null for other campaigns, and before the publish.' },
          ),
        ),
      },
      closed,
    ),
  },
  closed,
)
