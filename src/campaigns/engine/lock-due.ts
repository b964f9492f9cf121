import type { HeldBy } from '../../rules/campaigns/checked-send.ts'
import type { Queryable } from '../../stores/postgres.ts'

/** Where an enrolment is, locked together with its contact and its campaign. */
export interface DueRow {
  businessId: string
  enrolmentId: string
  contactId: string
  campaignId: string
  version: number
  step: string
  beganAt: number
  dueAt: number
  listensFor: string | null
  heldBy: HeldBy | null
  heardAt: number | null
  waited: boolean
  messageId: string | null
  /** Of a worker whose claim has expired. */
  claim: string | null
  attempts: number
  settled: boolean
}

/**
 * Locks what is due, in order of its instants; each business with something due gets as much of the room as the others. What
 * others hold is left for the next look, so that this never waits while it holds locks.
 *
 * The contacts come before the rows: every save locks the contact first. The campaigns come before both: a pause waits for claims that
 * have begun, and no claim begins while one is being paused.
 */
export async function lockDue(tx: Queryable, { now, most }: { now: number; most: number }): Promise<DueRow[]> {
  const seen = await tx<{ businessId: string; enrolmentId: string; contactId: string; campaignId: string }[]>`
    select due.business_id as "businessId", due.enrolment_id as "enrolmentId", due.contact_id as "contactId",
      due.campaign_id as "campaignId"
    from businesses b cross join lateral (
      select first.*, row_number() over (order by first.due_at) as place
      from (
        select d.business_id, d.enrolment_id, d.contact_id, d.campaign_id, d.due_at from due_steps d
        where d.business_id = b.id and not d.held and d.due_at <= ${now}
        order by d.due_at limit ${most}
      ) first
    ) due
    where b.active and b.removed_at is null
    order by due.place, due.due_at limit ${most}`
  if (seen.length === 0) return []
  const list = (ids: string[]) => `{${ids.join(',')}}`
  const businesses = list(seen.map(({ businessId }) => businessId))
  const campaigns = await tx<{ id: string }[]>`
    select c.id from unnest(${businesses}::text::uuid[], ${list(seen.map(({ campaignId }) => campaignId))}::text::uuid[])
      as asked (business_id, id)
    join campaigns c on c.business_id = asked.business_id and c.id = asked.id
    order by c.id for share of c skip locked`
  const contacts = await tx<{ id: string }[]>`
    select c.id from unnest(${businesses}::text::uuid[], ${list(seen.map(({ contactId }) => contactId))}::text::uuid[])
      as asked (business_id, id)
    join contacts c on c.business_id = asked.business_id and c.id = asked.id and c.merged_into is null
    order by c.id for no key update of c skip locked`
  const rows = await tx<DueRow[]>`
    select d.business_id as "businessId", d.enrolment_id as "enrolmentId", d.contact_id as "contactId",
      d.campaign_id as "campaignId", d.version, d.step, d.began_at as "beganAt", d.due_at as "dueAt",
      d.listens_for as "listensFor", d.held_by as "heldBy",
      d.heard_at as "heardAt", d.waited,
      d.message_id as "messageId", d.claim, d.attempts, d.settled
    from unnest(${businesses}::text::uuid[], ${list(seen.map(({ enrolmentId }) => enrolmentId))}::text::uuid[])
      as asked (business_id, id)
    join due_steps d on d.business_id = asked.business_id and d.enrolment_id = asked.id
    where not d.held and d.due_at <= ${now}
    order by d.due_at, d.enrolment_id for update of d skip locked`
  const [heldCampaigns, heldContacts] = [campaigns, contacts].map((held) => new Set(held.map(({ id }) => id)))
  return rows.filter(
    ({ campaignId, contactId }) => heldCampaigns?.has(campaignId) === true && heldContacts?.has(contactId) === true,
  )
}
