import type { Definition } from '../rules/campaigns/definition.ts'
import type { Queryable } from '../stores/postgres.ts'

export type CampaignTrigger = { event: string } | { segment: string; on: 'enter' | 'leave' }
export const CAMPAIGN_STATUSES = ['draft', 'published', 'paused', 'archived'] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

/** A campaign in a list (campaigns, "A campaign"). */
export interface ListedCampaign {
  campaignId: string
  name: string
  status: CampaignStatus
  version: number
  trigger: CampaignTrigger
  canEnterAgain: boolean
  goal: { event: string } | null
}

/** A campaign as callers see it. */
export interface Campaign extends ListedCampaign, Definition {}

/** The columns of a ListedCampaign. `c`: the campaign. */
export function campaignColumns(sql: Queryable) {
  return sql`
    c.id as "campaignId", c.name, c.status, c.version,
    case when c.trigger_event is not null then json_build_object('event', c.trigger_event)
      else json_build_object('segment', c.trigger_segment, 'on', c.trigger_on) end as trigger,
    c.can_enter_again as "canEnterAgain",
    case when c.goal_event is not null then json_build_object('event', c.goal_event) end as goal`
}

/** Of a campaign from before there were steps. */
export const NO_DEFINITION: Definition = { steps: [], caps: [], holdOut: 0 }
