/**
 * When the zone of a business has changed, makes the enrolments that wait for a local time due again: those of contacts
 * without a zone of their own, and those that wait for a channel's next day.
 */
import { knownZone, nextLocalTime } from '../../rules/campaigns/local-time.ts'
import { LOCAL_WAIT_TYPES } from '../../rules/campaigns/step-waits.ts'
import type { Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { EngineDeps } from './engine-deps.ts'

const LOCAL_WAITS = JSON.stringify({ types: LOCAL_WAIT_TYPES })
/** Number of enrolments in one transaction. */
const SET_SIZE = 2000
const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * Processes one set of one business. The set is placed behind what was due before, and is skipped while some of the
 * previous set are still due. Enrolments that others have locked are left: their claim knows the new zone. Returns true
 * when there was a set.
 */
export async function followBusinessZone(
  { sql, now }: Pick<EngineDeps, 'sql' | 'now'>,
  size = SET_SIZE,
): Promise<boolean> {
  const change = await findChange(sql)
  if (change === undefined) return false
  const { businessId, after } = change
  if (after === FIRST) {
    await awaitClaims(sql, businessId)
    await endDays(sql, change, now())
  }
  return await inTransaction(sql, async (tx) => {
    const isMine = await tx`
      select from zone_changes where business_id = ${businessId} and enrolment_id = ${after}::uuid for update skip locked`
    if (isMine.length === 0) return false
    const at = now()
    const [{ last, many }] = await tx<[{ last: string; many: number }]>`
      with looked_at as materialized (
        select enrolment_id, contact_id, campaign_id, version from due_steps
        where business_id = ${businessId} and enrolment_id > ${after}::uuid order by enrolment_id limit ${size}
      ),
      local_waits as materialized (
        select v.campaign_id, v.version, array_agg(step->>'id') as steps
        from (select distinct campaign_id, version from looked_at) l
        join campaign_versions v on v.business_id = ${businessId} and v.campaign_id = l.campaign_id and v.version = l.version
        cross join jsonb_path_query(v.definition, 'strict $.** ? (@.type == $types[*])', ${LOCAL_WAITS}::text::jsonb) step
        group by 1, 2
      ),
      waiting as materialized (
        select d.enrolment_id from looked_at l
        join due_steps d on d.business_id = ${businessId} and d.enrolment_id = l.enrolment_id
        join contacts c on c.business_id = ${businessId} and c.id = l.contact_id
        where d.due_at > ${at} and d.claim is null and not d.settled and not d.held
          and (
            d.held_by->>'type' = 'daily_budget'
            or (
              c.timezone is null and d.message_id is null and d.attempts = 0 and d.asked_outbox_id is null and d.listens_for is null
              and (
                d.held_by->>'type' in ('quiet_hours', 'cap')
                or (d.held_by is null and exists (
                  select from local_waits w where w.campaign_id = d.campaign_id and w.version = d.version and d.step = any (w.steps)
                ))
              )
            )
          )
        for update of d skip locked
      ),
      woken as (
        update due_steps d set due_at = ${at} from waiting w
        where d.business_id = ${businessId} and d.enrolment_id = w.enrolment_id
      )
      select (select enrolment_id from looked_at order by enrolment_id desc limit 1) as last, count(*)::int as many from looked_at`
    await (many < size
      ? tx`delete from zone_changes where business_id = ${businessId}`
      : tx`update zone_changes set enrolment_id = ${last}, woken_at = ${at} where business_id = ${businessId}`)
    return true
  })
}

interface ZoneChange {
  businessId: string
  /** The enrolment that was processed last. */
  after: string
  timezone: string
}

/** Returns the earliest change whose last set has been moved on. */
async function findChange(sql: Sql): Promise<ZoneChange | undefined> {
  const [change] = await sql<ZoneChange[]>`
    select z.business_id as "businessId", z.enrolment_id as after, b.timezone
    from zone_changes z join businesses b on b.id = z.business_id
    where not exists (
      select from due_steps d where d.due_at = z.woken_at and d.business_id = z.business_id and not d.held
    )
    order by z.changed_at limit 1 for update of z skip locked`
  return change
}

/**
 * Claims that have begun may have read the previous zone. They lock their campaigns; claims that begin after this read
 * the new zone.
 */
async function awaitClaims(sql: Sql, businessId: string): Promise<void> {
  await sql`select from campaigns where business_id = ${businessId} order by id for no key update`
}

/**
 * A channel's current day ends at the next midnight of the new zone, or at that of the previous zone if it comes first.
 */
async function endDays(sql: Sql, { businessId, timezone }: ZoneChange, now: number): Promise<void> {
  const midnight = nextLocalTime(now, { time: '00:00' }, knownZone(timezone))
  await sql`
    with later as materialized (
      select channel from channel_use where business_id = ${businessId} and day_ends_at > ${midnight} order by channel for update
    )
    update channel_use u set day_ends_at = ${midnight} from later
    where u.business_id = ${businessId} and u.channel = later.channel`
}
