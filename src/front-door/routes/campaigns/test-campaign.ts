/** Sends the whole sequence of a campaign to the address of a person who tests it. */
import { type Static, Type } from '@sinclair/typebox'
import { readCampaign } from '../../../campaigns/list-campaigns.ts'
import { loadPerson } from '../../../campaigns/simulation/load-person.ts'
import { MAX_CAMPAIGN_TESTS, testCampaign } from '../../../campaigns/test-campaign.ts'
import { RequestError } from '../../../errors.ts'
import { MAX_REASON } from '../../../messages/channels/words.ts'
import { faultOf } from '../../../rules/faults.ts'
import { MESSAGE_CHANNELS } from '../../../rules/messages/message-channel.ts'
import { loadDefinitions } from '../../../segments/load-definitions.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { withSealErrors } from '../channels/manage.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { closed, oneOf, orNull, uuid } from '../reply-fields.ts'
import { requireCampaignId } from './read-body.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { refuseBranches } from './simulate.ts'

const TESTED = 'The sequence was sent.'
const address = Type.String({ maxLength: 320 })

const TestCampaignSchema = Type.Object({
  to: Type.Union(
    [
      address,
      Type.Object(Object.fromEntries(MESSAGE_CHANNELS.map((channel) => [channel, Type.Optional(address)])), closed),
    ],
    {
      description:
        'One address, for the steps of the channels that it fits, or one for each channel. A step of a channel without an address is skipped.',
    },
  ),
  contactId: Type.Optional(
    Type.String({ description: 'Whose way it goes, and whose messages they are. Left out: the first way everywhere.' }),
  ),
})

const OUTCOMES = ['accepted', 'refused', 'temporary', 'unknown', 'template_failed', 'skipped', 'not_sent'] as const

const TestedCampaignData = Type.Object(
  {
    sends: Type.Array(
      Type.Object(
        {
          stepId: Type.String(),
          channel: oneOf(MESSAGE_CHANNELS),
          outcome: oneOf(OUTCOMES),
          provider: orNull(Type.String()),
          messageId: orNull(uuid),
          providerMessageId: Type.Optional(Type.String({ description: "The provider's id of the message." })),
          reason: Type.Optional(
            Type.String({
              description: `The provider's own words, at most ${MAX_REASON} characters; why the template failed; \`no_address\` or \`suppressed\`; or \`per_second\` or \`daily_budget\`, when the channel did not let it through in time.`,
            }),
          ),
        },
        closed,
      ),
      { description: 'In the order of the steps.' },
    ),
  },
  closed,
)

const checkTest = compileCheck(TestCampaignSchema)

async function postTest(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const campaign = await readCampaign(app.sql, business.id, requireCampaignId(context))
  if (campaign === null) throw new RequestError('not_found')
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const sent: Static<typeof TestCampaignSchema> = requireBody(checkTest(body))
  const definitions = await loadDefinitions(app.sql, business.id)
  refuseBranches(campaign, definitions)
  const { receivedAt: now } = context
  let person = null
  if (sent.contactId !== undefined) {
    const contactId = readId(sent.contactId)
    const at = { definitions, from: now, now }
    person = contactId && (await loadPerson(app, { businessId: business.id, contactId }, campaign, at))
    if (!person) throw contactNotFound()
    if (person === 'unavailable') throw clickHouseUnavailable(app)
  }
  await acquireSlot(app.slots.test, context, business.id)
  const tested = await withSealErrors(() =>
    testCampaign(app, { business, actor, campaign, definitions, person, to: sent.to }),
  )
  switch (tested.kind) {
    case 'faults':
      throw invalidRequest(tested.faults)
    case 'too_many':
      throw new RequestError('limit_reached', {
        reason: faultOf('', 'campaign_tests_a_day', { max: MAX_CAMPAIGN_TESTS }),
      })
    case 'tested':
      return { message: TESTED, data: { sends: tested.sends } }
  }
}

export const testCampaignEndpoint: BusinessEndpoint = {
  method: 'POST',
  path: '/campaigns/:campaignId/test',
  permission: 'audience:write',
  handler: postTest,
  operation: {
    summary: 'Send the whole sequence of a campaign at once',
    description:
      'To an address of your own: without waits, whatever the consent, and in no cap or report. Nobody is enrolled. A suppressed address is ' +
      `sent nothing, and \`perSecond\` and \`dailyBudget\` of the channel hold. At most 12 seconds, and ${MAX_CAMPAIGN_TESTS} times in 24 hours.`,
    tag: 'Campaigns',
    body: { schema: TestCampaignSchema, example: { to: 'ada@example.com' } },
    replies: {
      200: {
        message: TESTED,
        description: 'What became of each message, refusals too.',
        data: TestedCampaignData,
        example: {
          sends: [
            {
              stepId: 'hello',
              channel: 'email',
              outcome: 'accepted',
              provider: 'smtp',
              messageId: '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b36',
              reason: '250 2.0.0 OK',
            },
          ],
        },
      },
    },
  },
  errors: ['not_found', 'limit_reached', 'unavailable'],
}
