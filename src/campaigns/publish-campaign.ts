import type { Queryable } from '../stores/postgres.ts'
import type { Campaign } from './campaign.ts'
import { readCampaign } from './list-campaigns.ts'

export type PublishCampaignResult =
  | { kind: 'published'; campaign: Campaign; isFirst: boolean }
  | { kind: 'goal_is_trigger' }
  | { kind: 'unknown_segment' }
  | { kind: 'not_found' }

/**
 * From now on every matching live event enrols its contact, and trigger and goal cannot change. Each save asserts the
 * configuration version that it was decided with, so raising the version makes every later event see the publish.
 * Publishing again changes nothing.
 */
export async function publishCampaign(
  sql: Queryable,
  businessId: string,
  campaignId: string,
): Promise<PublishCampaignResult> {
  const campaign = await readCampaign(sql, businessId, campaignId)
  if (campaign === null) return { kind: 'not_found' }
  const { trigger, goal } = campaign
  if ('event' in trigger && goal?.event === trigger.event) return { kind: 'goal_is_trigger' }
  // The lock of the business keeps the segment from being deleted meanwhile.
  await sql`select from businesses where id = ${businessId} for update`
  if ('segment' in trigger && !(await hasSegment(sql, businessId, trigger.segment))) return { kind: 'unknown_segment' }
  const { count } = await sql`
    with published as (
      update campaigns set status = 'published', published_at = now()
      where business_id = ${businessId} and id = ${campaignId} and status = 'draft'
      returning id
    )
    update businesses set config_version = config_version + 1
    where id = ${businessId} and exists (select from published)`
  return { kind: 'published', campaign: { ...campaign, status: 'published' }, isFirst: count > 0 }
}

async function hasSegment(sql: Queryable, businessId: string, segmentId: string): Promise<boolean> {
  const rows = await sql`select from segments where business_id = ${businessId} and id = ${segmentId}`
  return rows.length > 0
}
