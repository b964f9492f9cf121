/** Broadcasts: campaigns that enrol each member of a segment once, at one instant (campaigns, "A campaign"). */
import type { Queryable, Sql } from '../stores/postgres.ts'
import type { BroadcastTrigger, CampaignStatus } from './campaign.ts'

/** Contacts that are enrolled in one transaction. It blocks their saves, and other work of its worker. */
export const SET_SIZE = 500

export interface BroadcastKey {
  businessId: string
  campaignId: string
}

/** Call it with the business locked. An instant in the past counts as now. */
export async function beginBroadcast(
  tx: Queryable,
  { businessId, campaignId }: BroadcastKey,
  { segment, at }: BroadcastTrigger,
  now: number,
): Promise<void> {
  const begins = at === undefined ? now : Math.max(now, Date.parse(at))
  await tx`
    insert into broadcasts (business_id, campaign_id, at, due_at) values (${businessId}, ${campaignId}, ${begins}, ${begins})`
  if (begins === now) await listMembers(tx, { businessId, campaignId }, { segment, now, isHeld: false })
}

/**
 * Lists the present members by the rule in force, in sets, so that later membership changes have no effect. This is one
 * statement, so it sees one instant. A cursor over the members themselves would need the history of all who have left
 * since.
 * @param isHeld whether the campaign is paused
 * @returns false when the segment has no rule in force yet, because its members are being computed
 */
export async function listMembers(
  tx: Queryable,
  { businessId, campaignId }: BroadcastKey,
  { segment, now, isHeld }: { segment: string; now: number; isHeld: boolean },
): Promise<boolean> {
  const { count } = await tx`
    with rule as materialized (
      select no from segment_rules
      where business_id = ${businessId} and segment_id = ${segment} and state = 'current'
    ),
    sets as (
      insert into broadcast_sets (business_id, campaign_id, position, contact_ids)
      select ${businessId}, ${campaignId}, place / ${SET_SIZE}::bigint, array_agg(contact_id)
      from (
        select m.contact_id, row_number() over (order by m.contact_id) - 1 as place
        from rule join segment_members m on m.business_id = ${businessId} and m.segment_no = rule.no and m.cause <> ''
      ) listed
      group by 3
      returning cardinality(contact_ids) as many
    ),
    counted as (select coalesce(sum(many), 0)::bigint as members from sets)
    update broadcasts b set
      at = ${now}, members = counted.members,
      due_at = case when counted.members > 0 and not ${isHeld}::boolean then ${now}::bigint end,
      done_at = case when counted.members = 0 then ${now}::bigint end
    from counted
    where b.business_id = ${businessId} and b.campaign_id = ${campaignId} and exists (select from rule)`
  return count > 0
}

/**
 * A pause or an archive takes effect between sets. When the instant comes during a pause, the members are listed then.
 */
export async function followStatus(
  tx: Queryable,
  { businessId, campaignId }: BroadcastKey,
  to: CampaignStatus,
): Promise<void> {
  const isArchived = to === 'archived'
  await tx`
    update broadcasts set due_at = case when ${to === 'published'} then at end
    where business_id = ${businessId} and campaign_id = ${campaignId} and done_at is null
      and (members is not null or ${isArchived})`
  if (isArchived) await tx`delete from broadcast_sets where business_id = ${businessId} and campaign_id = ${campaignId}`
}

/** Instants are ISO 8601 UTC. */
export interface BroadcastProgress {
  /** The instant of the membership; until the members are listed, the requested instant. */
  at: string
  /** Null until they are listed. */
  members: number | null
  enrolled: number
  /** Null until the last set is enrolled. */
  doneAt: string | null
}

/** Null for other campaigns, and for drafts. */
export async function readBroadcast(
  sql: Sql,
  { businessId, campaignId }: BroadcastKey,
): Promise<BroadcastProgress | null> {
  const [row] = await sql<{ at: number; members: number | null; enrolled: number; doneAt: number | null }[]>`
    select at, members, enrolled, done_at as "doneAt" from broadcasts
    where business_id = ${businessId} and campaign_id = ${campaignId}`
  if (row === undefined) return null
  const { at, members, enrolled, doneAt } = row
  return { at: isoTime(at), members, enrolled, doneAt: doneAt === null ? null : isoTime(doneAt) }
}

const isoTime = (at: number): string => new Date(at).toISOString()
