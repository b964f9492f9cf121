import type { ChannelKey } from '../messages/channels/channels.ts'
import type { Sql } from '../stores/postgres.ts'

/** In one call. Later ones keep their places, which the limits of then have given them. */
const MOST = 100_000
/** Enough that they stay in their order, and few are due at once. */
const A_MS = 1000

/**
 * Has the messages that the limits of a channel hold looked at again, since these were changed. What others are moving at this moment is
 * left. `now`: epoch ms.
 */
export async function wakeHeld(sql: Sql, { businessId, channel }: ChannelKey, now: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      with waiting as materialized (
        select enrolment_id, due_at from due_steps
        where business_id = ${businessId} and not held and due_at > ${now}
          and held_by ->> 'type' in ('per_second', 'daily_budget') and held_by ->> 'channel' = ${channel}
        order by due_at limit ${MOST} for update skip locked
      ),
      placed as (
        select enrolment_id, ${now} + row_number() over (order by due_at, enrolment_id) / ${A_MS} as at from waiting
      )
      update due_steps d set due_at = least(placed.at, d.due_at) from placed
      where d.business_id = ${businessId} and d.enrolment_id = placed.enrolment_id`
    await tx`
      update channel_use set queue_second = 0, queue_taken = 0, late_second = 0, late_taken = 0
      where business_id = ${businessId} and channel = ${channel}`
  })
}
