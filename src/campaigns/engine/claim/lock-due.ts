import type { HeldBy } from '../../../rules/campaigns/checked-send.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import { ANSWERS_MAX_AGE_MS, type BranchAnswers } from '../../branch-answers.ts'
import { CLAIMS_LOCK } from '../../claims-lock.ts'
import type { FoundDue } from './find-due.ts'

/** The position of an enrolment, locked together with its contact and its campaign. */
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
  awaitedAt: number | null
  waited: boolean
  messageId: string | null
  /** Claim of a worker that has expired. */
  claim: string | null
  attempts: number
  /** The sender that may have handed the message over: no other one may send it. */
  boundTo: string | null
  settled: boolean
  /**
   * Answer for the branch where it is: see branch-answers.ts. Null: the timeline has not been queried, or too long ago.
   */
  answers: BranchAnswers | null
}

/**
 * Locks the enrolments that were found due and still are, in order of their instants. Those that others hold are left
 * for the next look, so that this never waits while it holds locks.
 *
 * Contacts are locked before the rows, because every save locks the contact first. Campaigns are locked before both: a
 * pause waits for claims that have begun, and no claim begins while a campaign is being paused. Those of a business that
 * has been deactivated since they were found are left, too.
 */
export async function lockDue(
  tx: Queryable,
  { now, found: seen }: { now: number; found: readonly FoundDue[] },
): Promise<DueRow[]> {
  if (seen.length === 0) return []
  const list = (ids: string[]) => `{${ids.join(',')}}`
  const businesses = list(seen.map(({ businessId }) => businessId))
  const campaigns = await tx<{ id: string }[]>`
    select c.id from (
      select distinct business_id, id
      from unnest(${businesses}::text::uuid[], ${list(seen.map(({ campaignId }) => campaignId))}::text::uuid[])
        as found (business_id, id)
    ) asked
    join campaigns c on c.business_id = asked.business_id and c.id = asked.id
    where (select b.active and b.removed_at is null from businesses b where b.id = c.business_id)
      and pg_try_advisory_xact_lock_shared(${tx.unsafe(CLAIMS_LOCK)})
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
      d.awaited_at as "awaitedAt", d.waited,
      d.message_id as "messageId", d.claim, d.attempts, d.bound_to as "boundTo", d.settled,
      case when (d.answers->>'at')::bigint >= ${now - ANSWERS_MAX_AGE_MS} then d.answers->'values' end as answers
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
