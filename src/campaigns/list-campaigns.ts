import type { Definition } from '../rules/campaigns/definition.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { type Campaign, type CampaignRow, type ListedCampaign, campaignColumns, showCampaign } from './campaign.ts'

/**
 * Lists campaigns without their definitions, oldest first: by their ids, which begin with the time. A null `limit`: all
 * of them.
 */
export async function listCampaigns(
  sql: Sql,
  { businessId, after, limit }: { businessId: string; after: string | null; limit: number | null },
): Promise<ListedCampaign[]> {
  const rows = await sql<CampaignRow[]>`
    select ${campaignColumns(sql)} from campaigns c
    where business_id = ${businessId} and id > ${after ?? '00000000-0000-0000-0000-000000000000'}
    order by id limit ${limit}`
  return rows.map(showCampaign)
}

/** Returns null when the business has no campaign with this id. `campaignId` is a UUID. */
export async function readCampaign(sql: Queryable, businessId: string, campaignId: string): Promise<Campaign | null> {
  const [row] = await sql<CampaignRow<ListedCampaign & { definition: Definition }>[]>`
    select ${campaignColumns(sql)}, v.definition
    from campaigns c join campaign_versions v
      on v.business_id = c.business_id and v.campaign_id = c.id and v.version = c.version
    where c.business_id = ${businessId} and c.id = ${campaignId}`
  if (row === undefined) return null
  const { definition, ...listed } = showCampaign(row)
  return { ...listed, ...definition }
}
