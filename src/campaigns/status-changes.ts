/** Records when a campaign was published, paused, resumed and archived. */
import type { StatusChange } from '../rules/campaigns/explain-triggers.ts'
import type { Queryable } from '../stores/postgres.ts'

/** Number of changes that are kept per campaign, the newest ones. */
export const MAX_STATUS_CHANGES = 1000

/** Call it with the business locked, so that the changes of a campaign are in the order of their instants. */
export async function recordStatus(
  tx: Queryable,
  { businessId, campaignId }: { businessId: string; campaignId: string },
  status: StatusChange['status'],
): Promise<void> {
  await tx`
    with oldest as (
      select no from campaign_status_changes where business_id = ${businessId} and campaign_id = ${campaignId}
      order by no desc offset ${MAX_STATUS_CHANGES - 1} limit 1
    ), forgotten as (
      delete from campaign_status_changes c using oldest
      where c.business_id = ${businessId} and c.campaign_id = ${campaignId} and c.no <= oldest.no
    )
    insert into campaign_status_changes (business_id, campaign_id, status, at)
    values (${businessId}, ${campaignId}, ${status}, floor(extract(epoch from clock_timestamp()) * 1000))`
}

/** Oldest first. `isCut`: there may have been earlier ones. */
export async function readStatusChanges(
  sql: Queryable,
  { businessId, campaignId }: { businessId: string; campaignId: string },
): Promise<{ changes: StatusChange[]; isCut: boolean }> {
  const changes = await sql<StatusChange[]>`
    select status, at from campaign_status_changes
    where business_id = ${businessId} and campaign_id = ${campaignId} order by no`
  return { changes, isCut: changes.length >= MAX_STATUS_CHANGES }
}
