import { uuidv7 } from 'uuidv7'
import type { Sql } from '../stores/postgres.ts'
import { type Campaign, campaignColumns } from './campaign.ts'

export interface NewCampaign {
  name: string
  triggerEvent: string
  canEnterAgain: boolean
  goalEvent: string | null
}

/** A draft: it enrols nobody until it is published. */
export async function createCampaign(sql: Sql, businessId: string, campaign: NewCampaign): Promise<Campaign> {
  const { name, triggerEvent, canEnterAgain, goalEvent } = campaign
  const rows = await sql<[Campaign]>`
    insert into campaigns (business_id, id, name, trigger_event, can_enter_again, goal_event)
    values (${businessId}, ${uuidv7()}, ${name}, ${triggerEvent}, ${canEnterAgain}, ${goalEvent})
    returning ${campaignColumns(sql)}`
  return rows[0]
}
