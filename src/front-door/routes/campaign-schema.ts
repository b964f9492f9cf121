/** The body and the answers of the campaign routes. */
import { Type } from '@sinclair/typebox'
import { closed, oneOf, orNull, uuid } from './reply-fields.ts'
import { text } from './body-fields.ts'

export const CampaignSchema = Type.Object({
  name: text(1, 256, 'A name for people.', 'Welcome'),
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
})

const namedEvent = Type.Object({ event: Type.String() }, closed)

export const Campaign = Type.Object(
  {
    campaignId: uuid,
    name: Type.String(),
    status: oneOf(['draft', 'published']),
    trigger: Type.Union([namedEvent, Type.Object({ segment: uuid, on: oneOf(['enter', 'leave'] as const) }, closed)]),
    canEnterAgain: Type.Boolean(),
    goal: orNull(namedEvent),
  },
  closed,
)

export const CampaignData = Type.Object({ campaign: Campaign }, closed)

export const CampaignsData = Type.Object({ campaigns: Type.Array(Campaign) }, closed)
