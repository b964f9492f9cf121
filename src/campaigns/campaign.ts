import type { Queryable } from '../stores/postgres.ts'

export type CampaignTrigger = { event: string } | { segment: string; on: 'enter' | 'leave' }

/** A campaign as callers see it (decisions, "Campaigns"). */
export interface Campaign {
  campaignId: string
  name: string
  status: 'draft' | 'published'
  trigger: CampaignTrigger
  canEnterAgain: boolean
  goal: { event: string } | null
}

/** The columns of a Campaign. */
export function campaignColumns(sql: Queryable) {
  return sql`
    id as "campaignId", name, status, case when trigger_event is not null then json_build_object('event', trigger_event)
      else json_build_object('segment', trigger_segment, 'on', trigger_on) end as trigger,
    can_enter_again as "canEnterAgain",
    case when goal_event is not null then json_build_object('event', goal_event) end as goal`
}
