/** The bodies and the answers of the campaign routes. */
import { Type } from '@sinclair/typebox'
import { ENROLMENT_STATES } from '../../../campaigns/list-enrolments.ts'
import { CAMPAIGN_STATUSES } from '../../../campaigns/campaign.ts'
import { MAX_NAME } from '../../../campaigns/create-campaign.ts'
import { DefinitionReply, SentDefinition } from '../../../rules/campaigns/definition-schema.ts'
import { text } from '../body-fields.ts'
import { closed, count, dateTime, nextCursor, oneOf, orNull, uuid } from '../reply-fields.ts'

const sent = {
  name: text(1, MAX_NAME, 'A name for people.', 'Welcome'),
  trigger: Type.Union([
    Type.Object({ event: text(1, 64, 'Starts the campaign for each matching live event.', 'signup') }),
    Type.Object({
      segment: Type.String({ format: 'uuid', description: 'The segment that starts the campaign.' }),
      on: oneOf(['enter', 'leave'] as const),
    }),
  ]),
  canEnterAgain: Type.Optional(
    Type.Boolean({
      description: 'True: a contact can be enrolled again after its earlier enrolment has ended. Default: false.',
    }),
  ),
  goal: Type.Optional(Type.Object({ event: text(1, 64, 'Ends the enrolment as converted.', 'invoice_paid') })),
}

/** What the schema checks; `readDefinition` checks the rest. */
export const CheckedCampaignSchema = Type.Object(sent)
export const CheckedChangeSchema = Type.Partial(CheckedCampaignSchema)

/** For the OpenAPI description. */
export const CampaignSchema = Type.Object({ ...sent, ...SentDefinition })
export const CampaignChangeSchema = Type.Partial(CampaignSchema)

const namedEvent = Type.Object({ event: Type.String() }, closed)

const listed = {
  campaignId: uuid,
  name: Type.String(),
  status: oneOf(CAMPAIGN_STATUSES),
  version: Type.Integer({
    minimum: 1,
    description: 'Contacts follow the version of their enrolment to its end.',
  }),
  trigger: Type.Union([namedEvent, Type.Object({ segment: uuid, on: oneOf(['enter', 'leave'] as const) }, closed)]),
  canEnterAgain: Type.Boolean(),
  goal: orNull(namedEvent),
}

export const CampaignData = Type.Object({ campaign: Type.Object({ ...listed, ...DefinitionReply }, closed) }, closed)

export const CampaignsData = Type.Object({ campaigns: Type.Array(Type.Object(listed, closed)) }, closed)

export const DeletedCampaignData = Type.Object({ campaignId: uuid }, closed)

export const EnrolmentsData = Type.Object(
  {
    enrolments: Type.Array(
      Type.Object(
        {
          enrolmentId: uuid,
          contactId: uuid,
          state: oneOf(ENROLMENT_STATES),
          stepId: orNull(Type.String({ description: 'Null when it has ended, or has no steps.' })),
          version: orNull(Type.Integer({ minimum: 1, description: 'Null for one without steps.' })),
          enrolledAt: dateTime,
          since: orNull(dateTime),
          nextAt: orNull(dateTime),
          endedAt: orNull(dateTime),
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

const counts = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>

export const ReportData = Type.Object(
  {
    report: Type.Object(
      {
        enrolments: Type.Object({ enrolled: count, ...counts(ENROLMENT_STATES) }, closed),
        conversionRate: orNull(Type.Number({ minimum: 0, maximum: 1 })),
        steps: Type.Array(
          Type.Object(
            {
              stepId: Type.String(),
              ...counts(['claimed', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'unknown']),
              skipped: Type.Record(Type.String(), count, { description: 'By reason.' }),
            },
            closed,
          ),
          { description: 'The steps that send.' },
        ),
      },
      closed,
    ),
  },
  closed,
)
