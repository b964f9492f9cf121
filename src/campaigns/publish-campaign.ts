import type { Queryable } from '../stores/postgres.ts'
import type { Campaign } from './campaign.ts'
import { readCampaign } from './list-campaigns.ts'

export type PublishCampaignResult =
  | { kind: 'published'; campaign: Campaign; isFirst: boolean }
  | { kind: 'goal_is_trigger' }
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
  if (campaign.goal?.event === campaign.trigger.event) return { kind: 'goal_is_trigger' }
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
