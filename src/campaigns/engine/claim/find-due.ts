/** Finds the enrolments for the next claim: all due ones or, when there are too many, some of each campaign. */
import {
  type CampaignKey,
  type Rotation,
  type Share,
  dropDone,
  rotationOf,
  shareRoom,
} from '../../../rules/campaigns/share-room.ts'
import type { Queryable } from '../../../stores/postgres.ts'

export interface FoundDue extends CampaignKey {
  enrolmentId: string
  contactId: string
}

export interface DueFinder {
  /** Takes no locks. `inFlight`: number of messages that the worker is sending for a business. */
  find(
    sql: Queryable,
    asked: { now: number; most: number; inFlight: (businessId: string) => number },
  ): Promise<FoundDue[]>
}

/**
 * Maximum number of messages in flight per business: its provider may hang, and other businesses must not wait for it.
 */
export const MAX_OF_A_BUSINESS = 48
/**
 * Milliseconds for which the list of campaigns with due enrolments is cached. What becomes due meanwhile must not wait
 * long.
 */
const FRESH_MS = 250

/** Belongs to one worker. While much is due, it caches which campaigns have due enrolments. */
export function createDueFinder(): DueFinder {
  let rotation: Rotation = { businesses: [] }
  let freshUntil = -Infinity
  const findShares = async (sql: Queryable, now: number, shares: readonly Share[]): Promise<FoundDue[]> => {
    const found = await readShares(sql, now, shares)
    const many = new Map<string, number>()
    for (const { campaignId } of found) many.set(campaignId, (many.get(campaignId) ?? 0) + 1)
    const done = shares.filter(({ campaignId, room }) => (many.get(campaignId) ?? 0) < room)
    rotation = dropDone(rotation, done)
    return found
  }
  return {
    async find(sql, { now, most, inFlight }) {
      const roomOf = (businessId: string) => MAX_OF_A_BUSINESS - inFlight(businessId)
      const findSome = () => findShares(sql, now, shareRoom(rotation, most, roomOf))
      if (performance.now() < freshUntil) {
        const found = await findSome()
        if (found.length > 0) return found
      }
      const oldest = await readOldest(sql, now, most + 1)
      if (oldest.length <= most) {
        freshUntil = -Infinity
        return limitEach(oldest, roomOf)
      }
      rotation = rotationOf(await listDueCampaigns(sql, now))
      freshUntil = performance.now() + FRESH_MS
      return await findSome()
    },
  }
}

function limitEach(
  found: readonly (FoundDue & { isActive: boolean })[],
  roomOf: (businessId: string) => number,
): FoundDue[] {
  const given = new Map<string, number>()
  return found.filter(({ businessId, isActive }) => {
    const used = given.get(businessId) ?? 0
    if (!isActive || used >= roomOf(businessId)) return false
    given.set(businessId, used + 1)
    return true
  })
}

/** Of all businesses. */
async function readOldest(sql: Queryable, now: number, limit: number): Promise<(FoundDue & { isActive: boolean })[]> {
  return sql<(FoundDue & { isActive: boolean })[]>`
    select d.business_id as "businessId", d.enrolment_id as "enrolmentId", d.contact_id as "contactId",
      d.campaign_id as "campaignId", coalesce(b.active and b.removed_at is null, false) as "isActive"
    from (
      select business_id, enrolment_id, contact_id, campaign_id, due_at from due_steps
      where not held and due_at <= ${now} order by due_at limit ${limit}
    ) d
    left join businesses b on b.id = d.business_id
    order by d.due_at`
}

/**
 * One index probe for each campaign with waiting enrolments: the first entry of a campaign is its earliest due
 * enrolment. No joins, and by an index range in index order, so that the query reads nothing else, whatever statistics
 * the plan was made with. With equality, a plan for a table that one campaign fills would read everything that is due
 * to find the enrolments of another. The same holds for `readShares`.
 */
async function listDueCampaigns(sql: Queryable, now: number): Promise<CampaignKey[]> {
  return sql<CampaignKey[]>`
    with recursive waiting as (
      (
        select business_id, campaign_id, due_at from due_steps where not held
        order by business_id, campaign_id, due_at limit 1
      )
      union all
      select next.business_id, next.campaign_id, next.due_at
      from waiting w cross join lateral (
        select d.business_id, d.campaign_id, d.due_at from due_steps d
        where not d.held and (d.business_id, d.campaign_id) > (w.business_id, w.campaign_id)
        order by d.business_id, d.campaign_id, d.due_at limit 1
      ) next
    )
    select w.business_id as "businessId", w.campaign_id as "campaignId" from waiting w
    where w.due_at <= ${now}
      and (select b.active and b.removed_at is null from businesses b where b.id = w.business_id)`
}

async function readShares(sql: Queryable, now: number, shares: readonly Share[]): Promise<FoundDue[]> {
  const asked = shares.map(({ businessId, campaignId, room }) => ({
    business_id: businessId,
    campaign_id: campaignId,
    room,
  }))
  return sql<FoundDue[]>`
    select due.business_id as "businessId", due.enrolment_id as "enrolmentId", due.contact_id as "contactId",
      due.campaign_id as "campaignId"
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (business_id uuid, campaign_id uuid, room bigint)
    cross join lateral (
      select d.business_id, d.enrolment_id, d.contact_id, d.campaign_id from due_steps d
      where not d.held and (d.business_id, d.campaign_id) >= (x.business_id, x.campaign_id)
        and (d.business_id, d.campaign_id, d.due_at) <= (x.business_id, x.campaign_id, ${now}::bigint)
      order by d.business_id, d.campaign_id, d.due_at limit x.room
    ) due`
}
