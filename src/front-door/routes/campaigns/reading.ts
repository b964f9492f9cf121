/** Reads who is enrolled in a campaign, and what it has sent. */
import type { Campaign } from '../../../campaigns/campaign.ts'
import { ENROLMENT_STATES, listEnrolments } from '../../../campaigns/list-enrolments.ts'
import { readCampaign } from '../../../campaigns/list-campaigns.ts'
import { readReport } from '../../../campaigns/read-report.ts'
import { MAX_KEY, readKey } from '../../../rules/campaigns/enrolment-key.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, queryOf, readPage } from '../../http/read-page.ts'
import { readInstants } from '../segments/read-instants.ts'
import { requireCampaignId } from './read-body.ts'

export const ENROLLED = 'The enrolments.'
export const REPORTED = 'The report.'

export async function getEnrolments(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const businessId = principal.business.id
  const { campaignId } = await requireCampaign(app, context, businessId)
  const sent = queryOf(context).get('state')
  const state = ENROLMENT_STATES.find((one) => one === sent) ?? null
  if (sent !== null && state === null)
    throw invalidRequest([faultOf('state', 'one_of', { choices: ENROLMENT_STATES.join(', ') })])
  const key = readSentKey(queryOf(context).get('key'))
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readId(cursor)
  if (cursor !== null && before === null) throw invalidCursor()
  const found = await listEnrolments(app.sql, { businessId, campaignId, state, key, before, limit: limit + 1 })
  const enrolments = found.slice(0, limit)
  const nextCursor = found.length > limit ? (enrolments.at(-1)?.enrolmentId ?? null) : null
  return { message: ENROLLED, data: { enrolments, nextCursor } }
}

/** Null: none was sent. */
function readSentKey(sent: string | null): string | null {
  const key = sent === null ? null : readKey(sent)
  if (sent !== null && key === null) throw invalidRequest([faultOf('key', 'characters', { min: 1, max: MAX_KEY })])
  return key
}

export async function getReport(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const businessId = principal.business.id
  const campaign = await requireCampaign(app, context, businessId)
  const { from = null, to = null } = readInstants(queryOf(context), ['from', 'to'])
  return { message: REPORTED, data: { report: await readReport(app, principal.business, campaign, { from, to }) } }
}

/** Throws RequestError `not_found`. */
export async function requireCampaign(
  { sql }: AppContext,
  context: RequestContext,
  businessId: string,
): Promise<Campaign> {
  const campaign = await readCampaign(sql, businessId, requireCampaignId(context))
  if (campaign === null) throw new RequestError('not_found')
  return campaign
}
