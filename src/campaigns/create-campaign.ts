import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../stores/postgres.ts'
import { type Campaign, campaignColumns } from './campaign.ts'

export interface NewCampaign {
  name: string
  triggerEvent: string
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
  const { name, triggerEvent, canEnterAgain, goalEvent } = campaign
  const rows = await sql<Campaign[]>`
    with counted as (
      update businesses set campaign_count = campaign_count + 1
      where id = ${businessId} and campaign_count < ${MAX_CAMPAIGNS}
      returning id
    )
    insert into campaigns (business_id, id, name, trigger_event, can_enter_again, goal_event)
    select id, ${uuidv7()}::uuid, ${name}, ${triggerEvent}, ${canEnterAgain}::boolean, ${goalEvent}::text from counted
    returning ${campaignColumns(sql)}`
  return rows[0] ?? null
}
