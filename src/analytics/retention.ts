/** Cohorts of contacts by their first event, and when they returned. */
import type { Buckets } from './buckets.ts'
import { type EventCondition, NEVER, bucketSql, contactRowsSql, matchesEventSql } from './events-sql.ts'
import { shareOf } from './funnel.ts'
import type { ReadRows } from './read-rows.ts'

export interface RetentionQuery {
  first: EventCondition
  returning: EventCondition
  /** Intervals of cohorts, and `periods` more. */
  buckets: Buckets
  /** Number of buckets that are cohorts: the first ones. */
  cohorts: number
  /** Number of intervals after the cohort's own. */
  periods: number
  /** Epoch milliseconds. Intervals that begin later have no figure. */
  now: number
}

export interface Cohort {
  /** Epoch milliseconds. */
  start: number
  contacts: number
  /** Contacts who returned in the n-th interval; at 0, in the same interval. */
  returned: number[]
}

export interface CurvePoint {
  period: number
  /** Totals of the cohorts whose n-th interval is over. */
  contacts: number
  returned: number
  share: number | null
}

/**
 * A contact belongs to the cohort of its very first event, and returned with an event that was no earlier. The same as
 * the view `event_retention`, for other intervals too. Rejects with QueryFault.
 */
export async function readRetention(
  read: ReadRows,
  businessId: string,
  query: RetentionQuery,
): Promise<{ cohorts: Cohort[]; curve: CurvePoint[] }> {
  const { buckets, cohorts, first, returning } = query
  const end = buckets.starts[cohorts] ?? buckets.to
  const found = await read<{ cohort: number; bucket: number | null; contacts: number }>(
    `select cohort, bucket, count() as contacts
    from (
      select ${bucketSql(buckets, 'began_ms')} as cohort,
        arrayJoin(arrayPushFront(arrayMap(one -> toNullable(one), arrayCompact(arraySort(arrayMap(one -> ${bucketSql(buckets, 'one')},
          arrayFilter(one -> one >= began_ms, returns))))), cast(null, 'Nullable(Int64)'))) as bucket
      from (${contactRowsSql({
        columns: {
          occurred_ms: 'occurred_ms',
          is_first: matchesEventSql(first, 'first'),
          is_return: matchesEventSql(returning, 'returning'),
        },
        where: [`occurred_ms < ${buckets.to}`, `(is_first or (is_return and occurred_ms >= ${buckets.from}))`],
        aggregates: {
          began_ms: `min(if(is_first, occurred_ms, ${NEVER}))`,
          returns: `groupArrayIf(occurred_ms, is_return and occurred_ms >= ${buckets.from})`,
        },
        having: `began_ms >= ${buckets.from} and began_ms < ${end}`,
      })})
    )
    group by cohort, bucket`,
    {
      business: businessId,
      ...(first.event !== undefined && { first: first.event }),
      ...(returning.event !== undefined && { returning: returning.event }),
    },
  )
  const counted = new Map(found.map(({ cohort, bucket, contacts }) => [`${cohort} ${bucket}`, contacts]))
  const table = buckets.starts.slice(0, cohorts).map((start, place) => ({
    start,
    contacts: counted.get(`${start} null`) ?? 0,
    returned: buckets.starts
      .slice(place, place + query.periods + 1)
      .filter((at) => at <= query.now)
      .map((at) => counted.get(`${start} ${at}`) ?? 0),
  }))
  return { cohorts: table, curve: curveOf(table, query) }
}

function curveOf(table: readonly Cohort[], { buckets, periods, now }: RetentionQuery): CurvePoint[] {
  const endOf = (place: number) => buckets.starts[place + 1] ?? buckets.to
  return Array.from({ length: periods + 1 }, (_, period) => {
    const over = table.filter((_, place) => endOf(place + period) <= now)
    const contacts = over.reduce((total, one) => total + one.contacts, 0)
    const returned = over.reduce((total, one) => total + (one.returned[period] ?? 0), 0)
    return { period, contacts, returned, share: shareOf(returned, contacts) }
  })
}
