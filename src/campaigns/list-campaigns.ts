import type { Queryable, Sql } from '../stores/postgres.ts'
import { type Campaign, campaignColumns } from './campaign.ts'

/** Oldest first. */
export async function listCampaigns(sql: Sql, businessId: string): Promise<Campaign[]> {
  return sql<Campaign[]>`
    select ${campaignColumns(sql)} from campaigns where business_id = ${businessId} order by created_at, id`
}

/** Null when the business has no campaign with this id. `campaignId` is a UUID. */
export async function readCampaign(sql: Queryable, businessId: string, campaignId: string): Promise<Campaign | null> {
  const rows = await sql<Campaign[]>`
    select ${campaignColumns(sql)} from campaigns where business_id = ${businessId} and id = ${campaignId}`
  return rows[0] ?? null
}
