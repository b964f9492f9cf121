/** Finds the businesses with messages of calls that wait, and shares the room of a claim among those with due ones. */
import type { Queryable } from '../../stores/postgres.ts'

export interface WaitingBusiness {
  businessId: string
  /** When the first of its messages is due, in epoch milliseconds. */
  dueAt: number
}

/** One index probe for each business with messages that wait; one when there are none. The longest wait first. */
export async function listWaiting(sql: Queryable): Promise<WaitingBusiness[]> {
  return sql<WaitingBusiness[]>`
    with recursive waiting as (
      (select business_id, due_at from due_calls order by business_id, due_at limit 1)
      union all
      select next.business_id, next.due_at
      from waiting w cross join lateral (
        select d.business_id, d.due_at from due_calls d where d.business_id > w.business_id
        order by d.business_id, d.due_at limit 1
      ) next
    )
    select w.business_id as "businessId", w.due_at as "dueAt" from waiting w
    where (select b.active and b.removed_at is null from businesses b where b.id = w.business_id)
    order by w.due_at`
}

export interface CallShare {
  businessId: string
  /** Number of its messages. */
  room: number
}

/** Gives each business the same number of places, and the rest to those that have waited longest. */
export function shareCalls(
  businessIds: readonly string[],
  most: number,
  roomOf: (businessId: string) => number,
): CallShare[] {
  const shares = businessIds.map((businessId) => ({ businessId, room: 0, most: roomOf(businessId) }))
  let open = shares.filter((share) => share.most > 0)
  for (let left = most; left > 0 && open.length > 0;) {
    for (const share of open.slice(0, left)) share.room += 1
    left -= Math.min(left, open.length)
    open = open.filter((share) => share.room < share.most)
  }
  return shares.filter(({ room }) => room > 0).map(({ businessId, room }) => ({ businessId, room }))
}
