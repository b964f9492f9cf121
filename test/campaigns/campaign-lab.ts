/** Campaigns with steps, as a publish stores them. */
import { uuidv7 } from 'uuidv7'
import type { Sql } from '../../src/stores/postgres.ts'

export interface PublishedCampaign {
  trigger: string
  goal?: string
  canEnterAgain?: boolean
  definition: object
  /** Null when the campaign has no steps. */
  firstStep: string | null
  firstListensFor?: string
  listensFor?: string[]
}

/** Stores a published campaign without validating its steps. */
export async function insertCampaign(sql: Sql, businessId: string, campaign: PublishedCampaign): Promise<string> {
  const { trigger, goal = null, canEnterAgain = false, definition, firstStep } = campaign
  const id = uuidv7()
  await sql`
    with campaign as (
      insert into campaigns (business_id, id, name, status, trigger_event, can_enter_again, goal_event, published_at)
      values (${businessId}, ${id}, 'c', 'published', ${trigger}, ${canEnterAgain}, ${goal}, now())
    ), version as (
      insert into campaign_versions (business_id, campaign_id, version, definition, first_step, first_listens_for, listens_for)
      values (${businessId}, ${id}, 1, ${JSON.stringify(definition)}::text::jsonb, ${firstStep},
        ${campaign.firstListensFor ?? null}, ${`{${(campaign.listensFor ?? []).join(',')}}`}::text[])
    )
    update businesses set config_version = config_version + 1 where id = ${businessId}`
  return id
}
