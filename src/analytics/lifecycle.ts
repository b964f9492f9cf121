/** New, returning, resurrecting and dormant contacts. */
import type { Buckets } from './buckets.ts'
import { type EventCondition, bucketSql, contactRowsSql, matchesEventSql, startsSql } from './events-sql.ts'
import type { ReadRows } from './read-rows.ts'

export interface LifecycleBucket {
  /** Epoch milliseconds. */
  start: number
  /** Contacts active for the first time ever. */
  new: number
  /** Contacts who were also active in the previous interval. */
  returning: number
  /** Contacts who were active earlier, but not in the previous interval. */
  resurrecting: number
  /** Contacts who were active in the previous interval, but not in this one. */
  dormant: number
}

/** `buckets` begin with the interval before the first one of the answer. Rejects with QueryFault. */
export async function readLifecycle(
  read: ReadRows,
  businessId: string,
  { active, buckets }: { active: EventCondition; buckets: Buckets },
): Promise<LifecycleBucket[]> {
  // Bucket 1 also stands for everything earlier: its place is 1 or 0.
  const places = `[${buckets.starts.map((_, place) => `toInt32(${place + 1})`).join(', ')}]`
  const place = `if(occurred_ms < ${buckets.from}, 0, transform(${bucketSql(buckets)}, ${startsSql(buckets)}, ${places}, toInt32(0)))`
  const found = await read<{ at: number; what: 'new' | 'returning' | 'resurrecting' | 'dormant'; contacts: number }>(
    `select step.1 as at, step.2 as what, count() as contacts
    from (
      select arrayCompact(arraySort(all_places)) as places, arrayPushFront(arrayPopBack(places), toInt32(-1)) as before,
        arrayJoin(arrayConcat(
          arrayMap((one, last) -> tuple(one, multiIf(last < 0, 'new', last = one - 1 and last > 0, 'returning', 'resurrecting')), places, before),
          arrayMap(one -> tuple(one + 1, 'dormant'), arrayFilter((one, next) -> one > 0 and next != one + 1,
            places, arrayPushBack(arrayPopFront(places), toInt32(-1))))
        )) as step
      from (${contactRowsSql({
        columns: { place },
        where: [`occurred_ms < ${buckets.to}`, matchesEventSql(active, 'event')],
        aggregates: { all_places: 'groupArray(toInt32(place))' },
      })})
    )
    where at >= 2 and at <= ${buckets.starts.length}
    group by at, what`,
    { business: businessId, ...(active.event !== undefined && { event: active.event }) },
  )
  const counted = new Map(found.map(({ at, what, contacts }) => [`${at} ${what}`, contacts]))
  return buckets.starts.slice(1).map((start, index) => {
    const count = (what: string) => counted.get(`${index + 2} ${what}`) ?? 0
    return {
      start,
      new: count('new'),
      returning: count('returning'),
      resurrecting: count('resurrecting'),
      dormant: count('dormant'),
    }
  })
}
