/** Has what waits for a local time looked at again when the zone of its business has changed: of contacts that have no zone of their own. */
import type { Sql } from '../../stores/postgres.ts'
import type { EngineDeps } from './engine-deps.ts'

/** Enrolments that are looked at in one transaction. */
const SET_SIZE = 2000
const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * One set of one business, behind what was due before. What others have locked is left: they are moving it, and know the new zone.
 * Returns whether there was one.
 */
export async function followBusinessZone(
  { sql, now }: Pick<EngineDeps, 'sql' | 'now'>,
  size = SET_SIZE,
): Promise<boolean> {
  const [change] = await sql<{ businessId: string; after: string }[]>`
    select business_id as "businessId", enrolment_id as after from zone_changes limit 1`
  if (change === undefined) return false
  const { businessId, after } = change
  if (after === FIRST) await awaitClaims(sql, businessId)
  return await sql.begin(async (tx) => {
    const isMine = await tx`
      select from zone_changes where business_id = ${businessId} and enrolment_id = ${after}::uuid for update skip locked`
    if (isMine.length === 0) return false
    const [{ last, many }] = await tx<[{ last: string; many: number }]>`
      with looked_at as materialized (
        select enrolment_id, contact_id from due_steps
        where business_id = ${businessId} and enrolment_id > ${after}::uuid order by enrolment_id limit ${size}
      ),
      waiting as materialized (
        select d.enrolment_id from looked_at l
        join due_steps d on d.business_id = ${businessId} and d.enrolment_id = l.enrolment_id
        join contacts c on c.business_id = ${businessId} and c.id = l.contact_id and c.timezone is null
        where d.due_at > ${now()} and d.claim is null and d.message_id is null and d.attempts = 0 and not d.settled and not d.held
          and d.asked_outbox_id is null and d.listens_for is null
          and (d.held_by is null or d.held_by->>'type' in ('quiet_hours', 'cap'))
        for update of d skip locked
      ),
      woken as (
        update due_steps d set due_at = ${now()} from waiting w
        where d.business_id = ${businessId} and d.enrolment_id = w.enrolment_id
      )
      select (select enrolment_id from looked_at order by enrolment_id desc limit 1) as last, count(*)::int as many from looked_at`
    await (many < size
      ? tx`delete from zone_changes where business_id = ${businessId}`
      : tx`update zone_changes set enrolment_id = ${last} where business_id = ${businessId}`)
    return true
  })
}

/** Claims that have begun may have read the zone of before. They lock their campaigns; those that begin after this read the new one. */
async function awaitClaims(sql: Sql, businessId: string): Promise<void> {
  await sql`select from campaigns where business_id = ${businessId} order by id for no key update`
}
