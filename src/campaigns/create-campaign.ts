import { uuidv7 } from 'uuidv7'
import type { Definition } from '../rules/campaigns/definition.ts'
import type { Queryable } from '../stores/postgres.ts'
import { type Campaign, type CampaignTrigger, NO_DEFINITION, triggerColumns } from './campaign.ts'
import { readCampaign } from './list-campaigns.ts'
import { storeVersion } from './versions.ts'

export interface NewCampaign {
  name: string
  trigger: CampaignTrigger
  canEnterAgain: boolean
  goalEvent: string | null
  /** Absent: no steps. */
  definition?: Definition
}

/** Length of a name, in characters. */
export const MAX_NAME = 256
/** Per business, drafts included. */
export const MAX_CAMPAIGNS = 1000

/** Creates a draft, which enrols no contact until it is published. Returns null when the business has MAX_CAMPAIGNS. */
export async function createCampaign(
  tx: Queryable,
  businessId: string,
  campaign: NewCampaign,
): Promise<Campaign | null> {
  const { name, trigger, canEnterAgain, goalEvent, definition = NO_DEFINITION } = campaign
  const { event, web, segment, on, at, where, sources } = triggerColumns(trigger)
  const [created] = await tx<{ id: string }[]>`
    with counted as (
      update businesses set campaign_count = campaign_count + 1
      where id = ${businessId} and campaign_count < ${MAX_CAMPAIGNS}
      returning id
    )
    insert into campaigns (business_id, id, name, trigger_event, trigger_segment, trigger_on, trigger_at, trigger_where,
      trigger_sources, trigger_web, can_enter_again, goal_event)
    select id, ${uuidv7()}::uuid, ${name}, ${event}::text, ${segment}::uuid, ${on}::text, ${at}::bigint,
      ${where}::text::json, ${sources}::text::json, ${web}::text, ${canEnterAgain}::boolean, ${goalEvent}::text
    from counted
    returning id`
  if (created === undefined) return null
  await storeVersion(tx, { businessId, campaignId: created.id, version: 1 }, definition)
  return readCampaign(tx, businessId, created.id)
}
