import { CampaignData, CampaignsData, CampaignSchema } from './campaign-schema.ts'
import { recordAudit } from '../../accounts/audit.ts'
import type { CampaignTrigger } from '../../campaigns/campaign.ts'
import { MAX_CAMPAIGNS, createCampaign } from '../../campaigns/create-campaign.ts'
import { listCampaigns, readCampaign } from '../../campaigns/list-campaigns.ts'
import { publishCampaign } from '../../campaigns/publish-campaign.ts'
import { RequestError } from '../../errors.ts'
import { type Principal, keyRead, keyWrite } from '../access/principal.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../http/check-body.ts'
import {
  BODY_ERRORS,
  type RequestContext,
  type AppContext,
  KEYED_ERRORS,
  type Reply,
  type Route,
} from '../app-context.ts'
import { CAMPAIGN_EXAMPLE } from '../openapi/examples.ts'
import { BODY_LIMITS } from '../http/read-body.ts'
import { readId } from '../http/read-id.ts'
import { receiveBody } from '../http/receive-body.ts'

const DRAFTED = 'The campaign is a draft.'
const TOO_MANY = `The business has ${MAX_CAMPAIGNS.toLocaleString('en-US')} campaigns, which is the maximum.`
const LISTED = 'The campaigns.'
const READ = 'The campaign.'
const PUBLISHED = 'The campaign is published.'

const checkCampaign = compileCheck(CampaignSchema)

async function postCampaign(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { name, trigger, canEnterAgain = false, goal } = requireBody(checkCampaign(body))
  const unclean = uncleanIssues({
    name,
    'trigger.event': 'event' in trigger ? trigger.event : undefined,
    'goal.event': goal?.event,
  })
  if (unclean.length > 0) throw invalidRequest(unclean)
  const drafted = { name, trigger: readTrigger(trigger), canEnterAgain, goalEvent: goal?.event ?? null }
  const campaign = await app.sql.begin(async (tx) => {
    const created = await createCampaign(tx, business.id, drafted)
    if (created === null) throw new RequestError('limit_reached', { message: TOO_MANY })
    const entry = { businessId: business.id, actor, action: 'campaign.create', target: created.campaignId }
    await recordAudit(tx, entry)
    return created
  })
  return { message: DRAFTED, data: { campaign } }
}

async function getCampaigns({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: LISTED, data: { campaigns: await listCampaigns(sql, business.id) } }
}

async function getCampaign(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const campaign = await readCampaign(app.sql, business.id, requireId(context))
  if (campaign === null) throw new RequestError('not_found')
  return { message: READ, data: { campaign } }
}

async function postPublish(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const campaignId = requireId(context)
  const published = await app.sql.begin(async (tx) => {
    const result = await publishCampaign(tx, business.id, campaignId)
    const entry = { businessId: business.id, actor, action: 'campaign.publish', target: campaignId }
    if (result.kind === 'published' && result.isFirst) await recordAudit(tx, entry)
    return result
  })
  switch (published.kind) {
    case 'not_found':
      throw new RequestError('not_found')
    case 'goal_is_trigger':
      throw invalidRequest([{ path: 'goal.event', message: 'goal.event must differ from trigger.event' }])
    case 'unknown_segment':
      throw invalidRequest([{ path: 'trigger.segment', message: 'trigger.segment is not a segment of the business' }])
    case 'published':
      return { message: PUBLISHED, data: { campaign: published.campaign } }
  }
}

/** Only the fields of one trigger. */
function readTrigger(sent: CampaignTrigger): CampaignTrigger {
  return 'event' in sent ? { event: sent.event } : { segment: sent.segment, on: sent.on }
}

function requireId(context: RequestContext): string {
  const id = readId(context.params['campaignId'])
  if (id === null) throw new RequestError('not_found')
  return id
}

const { name, trigger, goal } = CAMPAIGN_EXAMPLE
const campaignReply = (message: string, campaign = CAMPAIGN_EXAMPLE) => ({
  message,
  description: 'The campaign.',
  data: CampaignData,
  example: { campaign },
})

export const campaignRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/campaigns',
    answer: keyWrite(postCampaign),
    operation: {
      summary: 'Draft a campaign',
      description: `A business has at most ${MAX_CAMPAIGNS.toLocaleString('en-US')} campaigns, drafts included.`,
      tag: 'Campaigns',
      key: 'secret',
      body: { schema: CampaignSchema, example: { name, trigger, canEnterAgain: false, goal } },
      replies: { 200: campaignReply(DRAFTED) },
      errors: [...BODY_ERRORS, 'limit_reached'],
    },
  },
  {
    method: 'GET',
    path: '/api/campaigns',
    answer: keyRead(getCampaigns),
    operation: {
      summary: 'List the campaigns',
      tag: 'Campaigns',
      key: 'secret',
      replies: {
        200: {
          message: LISTED,
          description: 'Oldest first.',
          data: CampaignsData,
          example: { campaigns: [CAMPAIGN_EXAMPLE] },
        },
      },
      errors: KEYED_ERRORS,
    },
  },
  {
    method: 'GET',
    path: '/api/campaigns/:campaignId',
    answer: keyRead(getCampaign),
    operation: {
      summary: 'Read a campaign',
      tag: 'Campaigns',
      key: 'secret',
      replies: { 200: campaignReply(READ) },
      errors: [...KEYED_ERRORS, 'not_found'],
    },
  },
  {
    method: 'POST',
    path: '/api/campaigns/:campaignId/publish',
    answer: keyWrite(postPublish),
    operation: {
      summary: 'Publish a campaign',
      description:
        'After the answer, every matching live event enrols its contact. Trigger and goal cannot change any more. A goal equal to ' +
        'the trigger is rejected. Publishing again changes nothing.',
      tag: 'Campaigns',
      key: 'secret',
      replies: { 200: campaignReply(PUBLISHED, { ...CAMPAIGN_EXAMPLE, status: 'published' }) },
      errors: [...KEYED_ERRORS, 'invalid_request', 'not_found'],
    },
  },
]
