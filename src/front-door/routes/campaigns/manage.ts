/** Creates, reads, changes and publishes campaigns. */
import type { Campaign, CampaignStatus } from '../../../campaigns/campaign.ts'
import { type StatusChange, changeStatus, deleteCampaign as deleteOne } from '../../../campaigns/change-status.ts'
import { MAX_CAMPAIGNS, createCampaign } from '../../../campaigns/create-campaign.ts'
import { duplicateCampaign } from '../../../campaigns/duplicate-campaign.ts'
import { listCampaigns, readCampaign } from '../../../campaigns/list-campaigns.ts'
import { publishCampaign } from '../../../campaigns/publish-campaign.ts'
import { updateCampaign } from '../../../campaigns/update-campaign.ts'
import { MAX_VERSIONS } from '../../../campaigns/versions.ts'
import { warnOfRecords } from '../../../campaigns/warn-of-records.ts'
import { warnOfMissingUnsubscribe } from '../../../campaigns/warn-of-unsubscribe.ts'
import { RequestError } from '../../../errors.ts'
import { publicAddress } from '../../../messages/public-links.ts'
import { valuesIn } from '../../../rules/campaigns/walk-steps.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Handler, Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { withWarnings } from '../submit-request.ts'
import { hideInSteps, hideInTrigger } from './hide-rules.ts'
import { readCampaignBody, readChangeBody, requireCampaignId } from './read-body.ts'

export const DRAFTED = 'The campaign is a draft.'
export const DUPLICATED = 'The copy is a draft.'
export const LISTED = 'The campaigns.'
export const READ = 'The campaign.'
export const UPDATED = 'The campaign is changed.'
export const PUBLISHED = 'The campaign is published.'
export const DELETED = 'The campaign is deleted.'
export const CHANGED: Record<StatusChange, string> = {
  pause: 'The campaign is paused.',
  resume: 'The campaign goes on.',
  archive: 'The campaign is archived.',
}
const TOO_MANY = faultOf('', 'campaigns_full', { max: MAX_CAMPAIGNS })
const TOO_MANY_VERSIONS = faultOf('', 'versions_full', { max: MAX_VERSIONS })

export async function postCampaign(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { goal, canEnterAgain = false, ...sent } = await readCampaignBody(app, business.id, body)
  const { event: goalEvent = null, ...goalConditions } = goal ?? {}
  const drafted = { ...sent, canEnterAgain, goalEvent, goalConditions }
  const created = await createCampaign(app.sql, { businessId: business.id, actor }, drafted)
  if (created.kind === 'too_many') throw new RequestError('limit_reached', { reason: TOO_MANY })
  return { message: DRAFTED, data: { campaign: created.campaign } }
}

export async function postDuplicate(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const created = await duplicateCampaign(app.sql, { businessId: business.id, actor }, requireCampaignId(context))
  if (created.kind === 'not_found') throw new RequestError('not_found')
  if (created.kind === 'too_many') throw new RequestError('limit_reached', { reason: TOO_MANY })
  return { message: DUPLICATED, data: { campaign: created.campaign } }
}

export async function getCampaigns({ sql }: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { limit, cursor } = readPage(context)
  const after = cursor === null ? null : readId(cursor)
  if (cursor !== null && after === null) throw invalidCursor()
  const found = await listCampaigns(sql, { businessId: principal.business.id, after, limit: limit + 1 })
  const campaigns = found.slice(0, limit)
  const nextCursor = found.length > limit ? (campaigns.at(-1)?.campaignId ?? null) : null
  return {
    message: LISTED,
    data: { campaigns: principal.can('contacts:read') ? campaigns : campaigns.map(hideInTrigger), nextCursor },
  }
}

export async function getCampaign(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const campaign = await readCampaign(app.sql, principal.business.id, requireCampaignId(context))
  if (campaign === null) throw new RequestError('not_found')
  const isShown = principal.can('contacts:read')
  const shown = isShown ? campaign : { ...hideInTrigger(campaign), steps: hideInSteps(campaign.steps) }
  return { message: READ, data: { campaign: shown } }
}

export async function patchCampaign(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const campaignId = requireCampaignId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const change = readChangeBody(app, body)
  const updated = await updateCampaign(app, { businessId: business.id, actor }, campaignId, change)
  switch (updated.kind) {
    case 'not_found':
      throw new RequestError('not_found')
    case 'faults':
      throw invalidRequest(updated.faults)
    case 'too_many_versions':
      throw new RequestError('limit_reached', { reason: TOO_MANY_VERSIONS })
    case 'too_many_conditions':
      throw new RequestError('limit_reached', { reason: updated.reason })
    case 'locked':
      throw updated.fields === null ? locked('archived') : lockedFields(updated.fields)
    case 'updated': {
      const { campaign } = updated
      // The publish warns of what a draft has.
      const warnings = campaign.status === 'draft' ? [] : await warnOfMissingUnsubscribe(app.sql, business.id, campaign)
      return { message: UPDATED, data: { campaign, ...withWarnings(warnings) } }
    }
  }
}

export async function deleteCampaign(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const campaignId = requireCampaignId(context)
  const deleted = await deleteOne(app.sql, { businessId: business.id, actor }, campaignId)
  if (deleted.kind === 'not_found') throw new RequestError('not_found')
  if (deleted.kind === 'locked') throw locked(deleted.status)
  return { message: DELETED, data: { campaignId } }
}

export async function postPublish(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const published = await publishCampaign(app, { businessId: business.id, actor }, requireCampaignId(context))
  switch (published.kind) {
    case 'not_found':
      throw new RequestError('not_found')
    case 'faults':
      throw invalidRequest(published.faults)
    case 'locked':
      throw locked('archived')
    case 'too_many_conditions':
      throw new RequestError('limit_reached', { reason: published.reason })
    case 'published': {
      const { campaign } = published
      const warnings = [
        ...warnOfLinks(app.config, campaign),
        ...warnOfAllKeys(campaign),
        ...(await warnOfMissingUnsubscribe(app.sql, business.id, campaign)),
        ...(await warnOfRecords(app.sql, business.id, campaign)),
      ]
      return { message: PUBLISHED, data: { campaign, ...withWarnings(warnings) } }
    }
  }
}

/** Returns a warning when messages would contain links that nobody can follow, because PUBLIC_URL is not set. */
function warnOfLinks(config: AppContext['config'], { steps, tracking }: Campaign): string[] {
  const channels = valuesIn(steps, 'channel')
  if (config.publicUrl !== undefined || channels.every((channel) => channel === 'webhook')) return []
  const isTracked = channels.includes('email') && (tracking.opens || tracking.clicks)
  const untracked = isTracked ? 'opens and clicks are not recorded, and ' : ''
  return [`PUBLIC_URL is not set: ${untracked}links to unsubscribe lead to ${publicAddress(config)}`]
}

/** Returns a warning when a goal ends the enrolments of every order, and not of one alone. */
const warnOfAllKeys = ({ enrolPer, goal }: Campaign): string[] =>
  enrolPer !== 'contact' && goal !== null && goal.sameKey === undefined
    ? [`goal.sameKey is not set: ${goal.event} ends all enrolments of the contact, whatever their key`]
    : []

/** Returns a handler that pauses, resumes or archives a campaign. */
export function postStatus(change: StatusChange): Handler {
  return async (app, context, { business, actor }) => {
    const campaignId = requireCampaignId(context)
    const changed = await changeStatus(app.sql, { businessId: business.id, actor }, campaignId, change)
    if (changed.kind === 'not_found') throw new RequestError('not_found')
    if (changed.kind === 'locked') throw locked(changed.status)
    const { campaign }: { campaign: Campaign } = changed
    return { message: CHANGED[change], data: { campaign } }
  }
}

const locked = (status: CampaignStatus) => new RequestError('locked', { reason: faultOf('', `campaign_is_${status}`) })

const lockedFields = (fields: string[]) =>
  new RequestError('locked', { reason: faultOf('', 'fields_of_published', { fields: fields.join(', ') }) })
