/** Pauses, resumes, archives and deletes campaigns (campaigns, "Status"). */
import { type Change, recordAudit } from '../audit/audit.ts'
import { CLAIMS_LOCK } from './claims-lock.ts'
import { lockBusiness } from '../segments/load-definitions.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import type { Campaign, CampaignStatus } from './campaign.ts'
import { followStatus } from './broadcasts.ts'
import { readCampaign } from './list-campaigns.ts'
import { raiseConfig } from './publish-campaign.ts'
import { recordStatus } from './status-changes.ts'

export const STATUS_CHANGES = ['pause', 'resume', 'archive'] as const
export type StatusChange = (typeof STATUS_CHANGES)[number]

const CHANGES: Record<StatusChange, { from: readonly CampaignStatus[]; to: Exclude<CampaignStatus, 'draft'> }> = {
  pause: { from: ['published'], to: 'paused' },
  resume: { from: ['paused'], to: 'published' },
  archive: { from: ['published', 'paused'], to: 'archived' },
}

export type StatusOutcome =
  | { kind: 'changed' | 'unchanged'; campaign: Campaign }
  | { kind: 'locked'; status: CampaignStatus }
  | { kind: 'not_found' }

/**
 * Changes the status. What a pause or an archive stops is not sent after its commit, because a claim locks the row of
 * the campaign. The worker ends the enrolments of an archived campaign.
 */
export async function changeStatus(
  sql: Sql,
  { businessId, actor }: Change,
  campaignId: string,
  change: StatusChange,
): Promise<StatusOutcome> {
  return await inTransaction(sql, async (tx) => {
    // Before the business, because it waits for the claims that have begun.
    await tx`
      select pg_advisory_xact_lock(${tx.unsafe(CLAIMS_LOCK)}) from campaigns c
      where c.business_id = ${businessId} and c.id = ${campaignId}`
    await lockBusiness(tx, businessId)
    const campaign = await readCampaign(tx, businessId, campaignId)
    if (campaign === null) return { kind: 'not_found' }
    const { from, to } = CHANGES[change]
    if (campaign.status === to) return { kind: 'unchanged', campaign }
    if (!from.includes(campaign.status)) return { kind: 'locked', status: campaign.status }
    await tx`
      update campaigns set status = ${to}, ending = ${to === 'archived'}
      where business_id = ${businessId} and id = ${campaignId}`
    await recordStatus(tx, { businessId, campaignId }, to)
    // Makes enrolments due that were held back during the pause, after the claims that may have held them back.
    if (change !== 'pause')
      await tx`
        update due_steps set held = false where business_id = ${businessId} and campaign_id = ${campaignId} and held`
    await followStatus(tx, { businessId, campaignId }, to)
    await raiseConfig(tx, businessId)
    await recordAudit(tx, { businessId, actor, action: `campaign.${change}`, target: campaignId })
    return { kind: 'changed', campaign: { ...campaign, status: to } }
  })
}

export type DeleteOutcome = { kind: 'deleted' } | { kind: 'locked'; status: CampaignStatus } | { kind: 'not_found' }

/** Deletes a draft. */
export async function deleteCampaign(
  sql: Sql,
  { businessId, actor }: Change,
  campaignId: string,
): Promise<DeleteOutcome> {
  return await inTransaction(sql, async (tx) => {
    await lockBusiness(tx, businessId)
    const campaign = await readCampaign(tx, businessId, campaignId)
    if (campaign === null) return { kind: 'not_found' }
    if (campaign.status !== 'draft') return { kind: 'locked', status: campaign.status }
    await tx`delete from campaign_versions where business_id = ${businessId} and campaign_id = ${campaignId}`
    await tx`delete from campaigns where business_id = ${businessId} and id = ${campaignId}`
    await tx`update businesses set campaign_count = campaign_count - 1 where id = ${businessId}`
    await recordAudit(tx, { businessId, actor, action: 'campaign.delete', target: campaignId })
    return { kind: 'deleted' }
  })
}
