import { type Change, recordAudit } from '../audit/audit.ts'
import type { Config } from '../config.ts'
import { MAX_WEB_CAMPAIGNS } from '../rules/campaigns/web-trigger.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { lockBusiness } from '../segments/load-definitions.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { beginBroadcast } from './broadcasts.ts'
import { type Campaign, isBroadcast } from './campaign.ts'
import { findCrowdedEvent } from './check-conditions.ts'
import { checkPublish } from './check-publish.ts'
import { readCampaign } from './list-campaigns.ts'
import { recordStatus } from './status-changes.ts'

type PublishOutcome =
  | { kind: 'published'; campaign: Campaign }
  | { kind: 'faults'; faults: Fault[] }
  | { kind: 'locked' }
  | { kind: 'too_many_conditions'; reason: Fault }
  | { kind: 'not_found' }

interface PublishDeps {
  config: Pick<Config, 'secretsKey'>
  /** Returns epoch milliseconds; called once the business is locked. */
  now: () => number
}

/**
 * Publishes a campaign. From then on every matching live event enrols its contact, and trigger and goal cannot change.
 * Each save asserts the configuration version that it was decided with, so raising the version makes every later event
 * see the publish. Publishing again changes nothing.
 *
 * A broadcast without a later `at` gets the members as of this transaction: it sees every save that was answered, and
 * every other save waits for its end.
 */
export const publishCampaign = (
  deps: PublishDeps & { sql: Sql },
  change: Change,
  campaignId: string,
): Promise<PublishOutcome> => inTransaction(deps.sql, (tx) => publishIn(tx, deps, change, campaignId))

/** As `publishCampaign`, in a transaction with other changes. */
export async function publishIn(
  tx: Queryable,
  { config, now }: PublishDeps,
  { businessId, actor }: Change,
  campaignId: string,
): Promise<PublishOutcome> {
  await lockBusiness(tx, businessId)
  const campaign = await readCampaign(tx, businessId, campaignId)
  if (campaign === null) return { kind: 'not_found' }
  if (campaign.status === 'archived') return { kind: 'locked' }
  if (campaign.status !== 'draft') return { kind: 'published', campaign }
  const faults = [
    ...(await checkPublish(tx, businessId, campaign, config.secretsKey)),
    ...(await checkWebCampaigns(tx, businessId, campaign)),
  ]
  if (faults.length > 0) return { kind: 'faults', faults }
  const crowded = await findCrowdedEvent(tx, businessId, campaign)
  if (crowded !== null) return { kind: 'too_many_conditions', reason: crowded }
  await tx`
    update campaigns set status = 'published', published_at = now()
    where business_id = ${businessId} and id = ${campaignId}`
  await recordStatus(tx, { businessId, campaignId }, 'published')
  const { trigger } = campaign
  if (isBroadcast(trigger)) await beginBroadcast(tx, { businessId, campaignId }, trigger, now())
  await raiseConfig(tx, businessId)
  await recordAudit(tx, { businessId, actor, action: 'campaign.publish', target: campaignId })
  return { kind: 'published', campaign: { ...campaign, status: 'published' } }
}

/** Call it with the business locked. */
async function checkWebCampaigns(
  tx: Queryable,
  businessId: string,
  { trigger }: Pick<Campaign, 'trigger'>,
): Promise<Fault[]> {
  if (!('web' in trigger)) return []
  const [{ many }] = await tx<[{ many: number }]>`
    select count(*)::int as many from campaigns
    where business_id = ${businessId} and trigger_web is not null and status in ('published', 'paused')`
  if (many < MAX_WEB_CAMPAIGNS) return []
  const path = 'trigger.web'
  return [faultOf(path, 'web_campaigns', { max: MAX_WEB_CAMPAIGNS })]
}

/** Makes every later save see the changes of this transaction. */
export async function raiseConfig(tx: Queryable, businessId: string): Promise<void> {
  await tx`update businesses set config_version = config_version + 1 where id = ${businessId}`
}
