/** Enrols the members of broadcasts, one set at a time. */
import { uuidv7 } from 'uuidv7'
import { newEnrolment } from '../../rules/campaigns/enrolment.ts'
import { MAX_ENROLMENTS } from '../../rules/limits.ts'
import type { Campaign, FirstStep } from '../../rules/business-state.ts'
import type { EnrolmentState } from '../../rules/state.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { type BroadcastKey, listMembers } from '../broadcasts.ts'
import type { CampaignStatus } from '../campaign.ts'
import type { EngineDeps } from './engine-deps.ts'

/**
 * How long to wait for membership changes by time at the instant of a broadcast, because the segment worker may be
 * behind.
 */
const BEHIND_MS = 60_000
/** Milliseconds before the next look. */
const WAIT_MS = 250
/** Milliseconds after which a broadcast that cannot be listed or enrolled is tried again. */
const FAULT_MS = 10_000

interface DueBroadcast extends BroadcastKey {
  /** Epoch milliseconds. */
  at: number
  members: number | null
}

type BroadcastCampaign = Pick<Campaign, 'id' | 'version' | 'firstStep' | 'goalEvent'> & {
  /** The goal has conditions. */
  isConditional: boolean
  status: CampaignStatus
  segment: string
}

/**
 * Lists the members of the due broadcast, or enrols a set of them, in one transaction. Broadcasts take turns: the one
 * that has waited longest comes first. Its row is locked, so that no two workers process the same broadcast, and its
 * campaign, so that a pause or an archive takes effect between two sets. Returns true when it did something. A failing
 * broadcast does not delay the others.
 */
export async function enrolBroadcast(deps: Pick<EngineDeps, 'sql' | 'log' | 'now'>): Promise<boolean> {
  const { sql, now } = deps
  const tried: DueBroadcast[] = []
  try {
    return await inTransaction(sql, async (tx) => {
      const due = await lockBroadcast(tx, now())
      if (due === null) return false
      tried.push(due)
      const campaign = await readCampaign(tx, due)
      if (due.members === null) return await list(tx, due, campaign, now())
      await enrolSet(tx, due, campaign, now())
      return true
    })
  } catch (error) {
    for (const due of tried) await postpone(deps, due, error)
    if (tried.length === 0) throw error
    return false
  }
}

async function postpone(
  { sql, log, now }: Pick<EngineDeps, 'sql' | 'log' | 'now'>,
  { businessId, campaignId }: DueBroadcast,
  error: unknown,
): Promise<void> {
  log.error({ err: error, campaign: campaignId }, 'a broadcast could not go on, trying again')
  await sql`
    update broadcasts set due_at = ${now() + FAULT_MS}
    where business_id = ${businessId} and campaign_id = ${campaignId} and due_at is not null`
}

async function lockBroadcast(tx: Queryable, now: number): Promise<DueBroadcast | null> {
  const [due] = await tx<DueBroadcast[]>`
    select b.business_id as "businessId", b.campaign_id as "campaignId", b.at, b.members
    from broadcasts b join campaigns c on c.business_id = b.business_id and c.id = b.campaign_id
    where b.due_at <= ${now} and exists (
      select from businesses o where o.id = b.business_id and o.active and o.removed_at is null
    )
    order by b.due_at limit 1
    for update of b skip locked for share of c skip locked`
  return due ?? null
}

/** Reads the broadcast again under its lock. */
async function readCampaign(tx: Queryable, { businessId, campaignId }: BroadcastKey): Promise<BroadcastCampaign> {
  const [campaign] = await tx<BroadcastCampaign[]>`
    select c.id, c.status, c.version, c.trigger_segment as segment, c.goal_event as "goalEvent",
      c.goal_where is not null as "isConditional",
      case when v.first_step is not null
        then json_build_object('id', v.first_step, 'listensFor', v.first_listens_for, 'condition', (select w from json_array_elements(v.waits) w where w ->> 'step' = v.first_step limit 1))
        end as "firstStep"
    from campaigns c left join campaign_versions v
      on v.business_id = c.business_id and v.campaign_id = c.id and v.version = c.version
    where c.business_id = ${businessId} and c.id = ${campaignId}`
  if (campaign === undefined) throw new Error(`the broadcast ${campaignId} has no campaign`)
  return campaign
}

async function list(
  tx: Queryable,
  { businessId, campaignId, at }: DueBroadcast,
  { segment, status }: BroadcastCampaign,
  now: number,
): Promise<boolean> {
  const isBehind = now < at + BEHIND_MS && (await isTimeBehind(tx, at))
  const isHeld = status !== 'published'
  if (!isBehind && (await listMembers(tx, { businessId, campaignId }, { segment, now, isHeld }))) return true
  await tx`
    update broadcasts set due_at = ${now + WAIT_MS} where business_id = ${businessId} and campaign_id = ${campaignId}`
  return false
}

/**
 * True when the segment worker still has to write changes by time at that instant or before, for any business. Two
 * index probes.
 */
async function isTimeBehind(tx: Queryable, at: number): Promise<boolean> {
  const [{ isBehind }] = await tx<[{ isBehind: boolean }]>`
    select coalesce((select due_at from segment_clock where due_at is not null order by due_at limit 1) <= ${at}, false)
      or coalesce((select next_at from segment_windows where next_at is not null order by next_at limit 1) <= ${at}, false)
      as "isBehind"`
  return isBehind
}

async function enrolSet(tx: Queryable, due: DueBroadcast, campaign: BroadcastCampaign, now: number): Promise<void> {
  const { businessId, campaignId } = due
  const [set] = await tx<{ position: number }[]>`
    select position from broadcast_sets where business_id = ${businessId} and campaign_id = ${campaignId}
    order by position limit 1`
  const enrolled = set === undefined ? 0 : await enrolMembers(tx, { ...due, ...set }, campaign, now)
  await tx`
    update broadcasts b set
      enrolled = b.enrolled + ${enrolled}, due_at = case when rest.is_left then ${now}::bigint end,
      done_at = case when not rest.is_left then ${now}::bigint end
    from (
      select exists (
        select from broadcast_sets where business_id = ${businessId} and campaign_id = ${campaignId}
      ) as is_left
    ) rest
    where b.business_id = ${businessId} and b.campaign_id = ${campaignId}`
}

type SetKey = DueBroadcast & { position: number }

/** Returns the number of enrolled contacts. */
async function enrolMembers(tx: Queryable, set: SetKey, campaign: BroadcastCampaign, now: number): Promise<number> {
  const locked = await lockContacts(tx, set)
  const made = (await readEntrants(tx, set, campaign, locked)).map(({ id, goalLastAt }) => {
    const isReached = goalLastAt !== null && goalLastAt >= set.at
    return newEnrolment(campaign, {
      id: uuidv7(),
      contactId: id,
      isReached,
      enrolledAt: set.at,
      receivedAt: set.at,
      now,
    })
  })
  if (made.length > 0) await insertEnrolments(tx, set.businessId, made, now)
  // A contact that was merged while the others were being locked comes up again.
  const known = new Set(locked)
  const left = (await survivorsOf(tx, set)).filter(({ id }) => !known.has(id))
  await keepInSet(tx, set, left)
  return made.length
}

/** Returns the present contacts of the set: survivors in place of merged contacts, and no erased ones. */
const survivorsOf = (tx: Queryable, { businessId, campaignId, position }: SetKey) => tx<{ id: string }[]>`
  select distinct coalesce(f.merged_into, f.id) as id
  from broadcast_sets s cross join lateral unnest(s.contact_ids) as listed (id)
  join contacts f on f.business_id = s.business_id and f.id = listed.id
  where s.business_id = ${businessId} and s.campaign_id = ${campaignId} and s.position = ${position}`

/** Locks contacts in order, like every save. */
async function lockContacts(tx: Queryable, set: SetKey): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select c.id from contacts c
    where c.business_id = ${set.businessId} and c.merged_into is null and c.id = any (array(${survivorsOf(tx, set)}))
    order by c.id for no key update`
  return rows.map(({ id }) => id)
}

async function keepInSet(
  tx: Queryable,
  { businessId, campaignId, position }: SetKey,
  contacts: readonly { id: string }[],
): Promise<void> {
  const isThis = tx`business_id = ${businessId} and campaign_id = ${campaignId} and position = ${position}`
  const ids = `{${contacts.map(({ id }) => id).join(',')}}`
  await (contacts.length === 0
    ? tx`delete from broadcast_sets where ${isThis}`
    : tx`update broadcast_sets set contact_ids = ${ids}::text::uuid[] where ${isThis}`)
}

/** A contact that has already been in the campaign was merged with one that was enrolled before. */
async function readEntrants(
  tx: Queryable,
  { businessId, campaignId }: SetKey,
  { goalEvent, isConditional }: BroadcastCampaign,
  contacts: readonly string[],
): Promise<{ id: string; goalLastAt: number | null }[]> {
  return await tx<{ id: string; goalLastAt: number | null }[]>`
    select c.id, ${isConditional ? tx`t.last_at` : tx`s.last_at`} as "goalLastAt"
    from unnest(${`{${contacts.join(',')}}`}::text::uuid[]) as c (id)
    cross join lateral (
      select count(*) as many, coalesce(bool_or(e.campaign_id = ${campaignId}), false) as was_in
      from only enrolments e where e.business_id = ${businessId} and e.contact_id = c.id
    ) e
    left join event_statistics s
      on s.business_id = ${businessId} and s.contact_id = c.id and s.event = ${goalEvent}::text collate "C"
    ${
      isConditional
        ? tx`left join goal_times t
      on t.business_id = ${businessId} and t.contact_id = c.id and t.campaign_id = ${campaignId} and t.key = ''`
        : tx``
    }
    where not e.was_in and e.many < ${MAX_ENROLMENTS}`
}

interface MadeEnrolment {
  enrolment: EnrolmentState
  firstStep: FirstStep | null
}

/** Writes enrolments as a save does. Saves that have read one of these contacts are decided again. */
async function insertEnrolments(
  tx: Queryable,
  businessId: string,
  made: readonly MadeEnrolment[],
  now: number,
): Promise<void> {
  const rows = made.map(({ enrolment: { id, contactId, campaignId, version, state, endedAt, ...times } }) => ({
    id,
    campaign_id: campaignId,
    contact_id: contactId,
    version,
    state,
    enrolled_at: times.enrolledAt,
    received_at: times.receivedAt,
    ended_at: endedAt,
  }))
  const json = JSON.stringify(rows)
  await tx`
    with made as (
      insert into enrolments (business_id, id, campaign_id, contact_id, version, state, enrolled_at, received_at, ended_at)
      select ${businessId}, id, campaign_id, contact_id, version, state, enrolled_at, received_at, ended_at
      from json_to_recordset(${json}::text::json) as x (id uuid, campaign_id uuid, contact_id uuid, version integer, state text,
        enrolled_at bigint, received_at bigint, ended_at bigint)
      returning contact_id
    )
    update contacts c set version = c.version + 1 from made where c.business_id = ${businessId} and c.id = made.contact_id`
  const steps = made.flatMap(({ enrolment, firstStep }) =>
    firstStep === null ? [] : [firstStepRecord(businessId, enrolment, firstStep, now)],
  )
  if (steps.length > 0) await tx`select begin_steps(${JSON.stringify(steps)}::text::json)`
}

const firstStepRecord = (
  businessId: string,
  { id, contactId, campaignId, version }: EnrolmentState,
  { id: step, listensFor }: FirstStep,
  now: number,
) => ({
  business_id: businessId,
  enrolment_id: id,
  contact_id: contactId,
  campaign_id: campaignId,
  version,
  step,
  listens_for: listensFor,
  began_at: now,
})
