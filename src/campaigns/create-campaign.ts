import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../stores/postgres.ts'
import { type Campaign, type CampaignTrigger, campaignColumns } from './campaign.ts'

export interface NewCampaign {
  name: string
  trigger: CampaignTrigger
  canEnterAgain: boolean
  goalEvent: string | null
}

/** Per business, drafts included. */
export const MAX_CAMPAIGNS = 1000

/** Creates a draft, which enrols no contact until it is published. Null when the business has MAX_CAMPAIGNS. */
export async function createCampaign(
  sql: Queryable,
  businessId: string,
  campaign: NewCampaign,
): Promise<Campaign | null> {
  const { name, trigger, canEnterAgain, goalEvent } = campaign
  const { event, segment, on } = { event: null, segment: null, on: null, ...trigger }
  const rows = await sql<Campaign[]>`
    with counted as (
      update businesses set campaign_count = campaign_count + 1
      where id = ${businessId} and campaign_count < ${MAX_CAMPAIGNS}
      returning id
    )
    insert into campaigns (business_id, id, name, trigger_event, trigger_segment, trigger_on, can_enter_again,
      goal_event)
    select id, ${uuidv7()}::uuid, ${name}, ${event}::text, ${segment}::uuid, ${on}::text, ${canEnterAgain}::boolean, ${goalEvent}::text from counted
    returning ${campaignColumns(sql)}`
  return rows[0] ?? null
}
