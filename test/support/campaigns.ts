/** Campaigns of a test, created and published as a command does it. */
import type { Actor } from '../../src/audit/audit.ts'
import { type NewCampaign, createCampaign } from '../../src/campaigns/create-campaign.ts'
import { publishCampaign } from '../../src/campaigns/publish-campaign.ts'
import type { Sql } from '../../src/stores/postgres.ts'

const actor: Actor = { kind: 'command', id: 'test', name: 'test' }

/** Resolves with the id. */
export async function draftCampaign(sql: Sql, businessId: string, campaign: NewCampaign): Promise<string> {
  const created = await createCampaign(sql, { businessId, actor }, campaign)
  if (created.kind !== 'created') throw new Error(created.kind)
  return created.campaign.campaignId
}

export const publishDraft = (sql: Sql, businessId: string, campaignId: string) =>
  publishCampaign({ sql, config: { secretsKey: undefined }, now: Date.now }, { businessId, actor }, campaignId)
