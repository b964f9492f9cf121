/** The endpoints about campaigns. */
import { MAX_CAMPAIGNS } from '../../../campaigns/create-campaign.ts'
import type { StatusChange } from '../../../campaigns/change-status.ts'
import {
  CAMPAIGN_EXAMPLE,
  ENROLMENT_EXAMPLE,
  LISTED_CAMPAIGN_EXAMPLE,
  REPORT_EXAMPLE,
  SIMULATE_EXAMPLE,
  SIMULATION_EXAMPLE,
} from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { ENROLMENT_STATES } from '../../../campaigns/list-enrolments.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import { EXPLAINED, getExplanation } from './explain.ts'
import { EXPLANATION_EXAMPLE, ExplanationData } from './explain-schema.ts'
import * as manage from './manage.ts'
import * as reading from './reading.ts'
import * as schemas from './schemas.ts'
import { backtestEndpoints } from './backtest.ts'
import { SIMULATED, postSimulate } from './simulate.ts'
import { testCampaignEndpoint } from './test-campaign.ts'
import { MAX_ANSWERS, SimulateSchema, SimulationData } from './simulation-schemas.ts'

const tag = 'Campaigns'
const { name, trigger, goal, steps, campaignId } = CAMPAIGN_EXAMPLE
const campaignReply = (message: string, changes: object = {}) => ({
  200: {
    message,
    description: 'The campaign.',
    data: schemas.CampaignData,
    example: { campaign: { ...CAMPAIGN_EXAMPLE, ...changes } },
  },
})

const statusEndpoint = (
  change: StatusChange,
  summary: string,
  description: string,
  status: string,
): BusinessEndpoint => ({
  method: 'POST',
  path: `/campaigns/:campaignId/${change}`,
  permission: 'audience:write',
  handler: manage.postStatus(change),
  operation: { summary, description, tag, replies: campaignReply(manage.CHANGED[change], { status }) },
  errors: ['not_found', 'locked'],
})

export const campaignEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'POST',
    path: '/campaigns',
    permission: 'audience:write',
    handler: manage.postCampaign,
    operation: {
      summary: 'Draft a campaign',
      description: `A business has at most ${MAX_CAMPAIGNS.toLocaleString('en-US')} campaigns, drafts included.`,
      tag,
      body: { schema: schemas.CampaignSchema, example: { name, trigger, canEnterAgain: false, goal, steps } },
      replies: campaignReply(manage.DRAFTED),
    },
    errors: ['limit_reached'],
  },
  {
    method: 'GET',
    path: '/campaigns',
    permission: 'lists:read',
    isCompressed: true,
    handler: manage.getCampaigns,
    operation: {
      summary: 'List the campaigns',
      tag,
      query: PAGE_QUERY,
      replies: {
        200: {
          message: manage.LISTED,
          description: 'Oldest first, without their steps.',
          data: schemas.CampaignsData,
          example: { campaigns: [LISTED_CAMPAIGN_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'GET',
    path: '/campaigns/:campaignId',
    permission: 'lists:read',
    handler: manage.getCampaign,
    operation: { summary: 'Read a campaign', tag, replies: campaignReply(manage.READ) },
    errors: ['not_found'],
  },
  {
    method: 'PATCH',
    path: '/campaigns/:campaignId',
    permission: 'audience:write',
    handler: manage.patchCampaign,
    operation: {
      summary: 'Change a campaign',
      description:
        'Changes only the fields that you send. Once the campaign was published, other steps, quiet hours, caps or another hold-out ' +
        'make a new version: those who are enrolled finish theirs. Trigger, goal and `canEnterAgain` are locked then, and after ' +
        'archiving everything is.',
      tag,
      body: { schema: schemas.CampaignChangeSchema, example: { name, steps } },
      replies: {
        200: {
          ...campaignReply(manage.UPDATED)[200],
          description:
            'The campaign. Once it was published, a warning names each marketing mail without a link to unsubscribe.',
          data: schemas.PublishedData,
        },
      },
    },
    errors: ['not_found', 'locked', 'limit_reached'],
  },
  {
    method: 'DELETE',
    path: '/campaigns/:campaignId',
    permission: 'audience:write',
    handler: manage.deleteCampaign,
    operation: {
      summary: 'Delete a draft',
      tag,
      replies: {
        200: {
          message: manage.DELETED,
          description: 'Deleted.',
          data: schemas.DeletedCampaignData,
          example: { campaignId },
        },
      },
    },
    errors: ['not_found', 'locked'],
  },
  {
    method: 'POST',
    path: '/campaigns/:campaignId/publish',
    permission: 'audience:write',
    handler: manage.postPublish,
    operation: {
      summary: 'Publish a campaign',
      description:
        'After the answer, every matching live event enrols its contact; a broadcast without a later `at` enrols those who are members ' +
        'of its segment now, in sets. Trigger and goal cannot change any more. Rejected are a goal ' +
        'equal to the trigger, templates and segments that do not exist, a template of another channel, a channel whose settings ' +
        'are not complete, a wait for the goal, steps that cannot be reached, and `canEnterAgain` in a broadcast. ' +
        'Publishing again changes nothing.',
      tag,
      replies: {
        200: {
          ...campaignReply(manage.PUBLISHED, { status: 'published' })[200],
          description:
            'The campaign. Without `PUBLIC_URL`, a warning says what that means for its messages. Another names each marketing mail ' +
            'without a link to unsubscribe.',
          data: schemas.PublishedData,
        },
      },
    },
    errors: ['invalid_request', 'not_found', 'locked'],
  },
  statusEndpoint(
    'pause',
    'Pause a campaign',
    'After the answer, nobody enters and nothing is sent. Goals, opt-outs and awaited events still count, and waits go on.',
    'paused',
  ),
  statusEndpoint(
    'resume',
    'Resume a paused campaign',
    'What fell due meanwhile is done at once. Events that came meanwhile enrol nobody.',
    'published',
  ),
  statusEndpoint(
    'archive',
    'Archive a campaign',
    'For good. After the answer nothing is sent, and the active enrolments end as `stopped`.',
    'archived',
  ),
  {
    method: 'POST',
    path: '/campaigns/:campaignId/duplicate',
    permission: 'audience:write',
    handler: manage.postDuplicate,
    operation: {
      summary: 'Duplicate a campaign',
      description: 'Makes a draft with the present version of any campaign. Its steps keep their ids.',
      tag,
      replies: campaignReply(manage.DUPLICATED, { name: `${name} (copy)` }),
    },
    errors: ['not_found', 'limit_reached'],
  },
  {
    method: 'GET',
    path: '/campaigns/:campaignId/enrolments',
    permission: 'contacts:read',
    handler: reading.getEnrolments,
    operation: {
      summary: 'List the enrolments in a campaign',
      tag,
      query: {
        state: { schema: { type: 'string', enum: [...ENROLMENT_STATES] }, description: 'Those in this state.' },
        key: { schema: { type: 'string' }, description: 'Those with this key, such as an order.' },
        ...PAGE_QUERY,
      },
      replies: {
        200: {
          message: reading.ENROLLED,
          description: 'Newest first.',
          data: schemas.EnrolmentsData,
          example: { enrolments: [ENROLMENT_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request', 'not_found'],
  },
  {
    method: 'GET',
    path: '/campaigns/:campaignId/explain',
    permission: 'contacts:read',
    handler: getExplanation,
    operation: {
      summary: 'Explain what a campaign did with a contact',
      description:
        'Which events of the contact enrolled it, and why others did not; what its enrolments wait for; and what was looked at before ' +
        'each message. `reason` is null also where what kept the contact out is not known: see `docs/campaigns.md`.',
      tag,
      query: {
        contactId: { schema: { type: 'string', format: 'uuid' }, description: 'The contact.', required: true },
      },
      replies: {
        200: {
          message: EXPLAINED,
          description: 'Triggers, enrolments and messages.',
          data: ExplanationData,
          example: EXPLANATION_EXAMPLE,
        },
      },
    },
    errors: ['invalid_request', 'not_found', 'unavailable'],
  },
  {
    method: 'GET',
    path: '/campaigns/:campaignId/report',
    permission: 'lists:read',
    handler: reading.getReport,
    operation: {
      summary: 'Report the enrolments of a campaign and its messages, by their state',
      description: 'Of the enrolments whose instant lies between `from` and `to`, both in. Erased persons are counted.',
      tag,
      query: {
        from: { schema: { type: 'string', format: 'date-time' }, description: 'The earliest instant.' },
        to: { schema: { type: 'string', format: 'date-time' }, description: 'The latest instant.' },
      },
      replies: {
        200: {
          message: reading.REPORTED,
          description: 'The counts.',
          data: schemas.ReportData,
          example: { report: REPORT_EXAMPLE },
        },
      },
    },
    errors: ['invalid_request', 'not_found'],
  },
  {
    method: 'POST',
    path: '/campaigns/:campaignId/simulate',
    permission: 'contacts:read',
    handler: postSimulate,
    operation: {
      summary: 'Simulate a campaign',
      description:
        'What the present version, also of a draft, would do with a contact that is enrolled at `from`, by the rules that really ' +
        `move enrolments, on a clock of its own. Nothing is stored or sent. At most ${MAX_ANSWERS} answers.`,
      tag,
      body: { schema: SimulateSchema, example: SIMULATE_EXAMPLE },
      replies: {
        200: {
          message: SIMULATED,
          description: 'The messages, and how it ends.',
          data: SimulationData,
          example: SIMULATION_EXAMPLE,
        },
      },
    },
    errors: ['not_found'],
  },
  ...backtestEndpoints,
  testCampaignEndpoint,
]
