/** The contacts whose engagement rose and fell most within a week. */
import { scoreSql } from '../timeline/reading/engagement-score.ts'
import { additionalTableFilters } from '../timeline/reading/table-filters.ts'
import { eventsSql } from './events-sql.ts'
import type { ReadRows } from './read-rows.ts'

export interface Mover {
  contactId: string
  /** Present score, as in the view `contact_engagement`. */
  score: number
  /** Score a week ago; 0 for contacts without events then. */
  before: number
}

export interface Movers {
  /** Greatest change first. */
  risen: Mover[]
  fallen: Mover[]
}

export const WEEK_MS = 7 * 86_400_000

/** At most `top` of each. `now`: epoch milliseconds. Rejects with QueryFault. */
export async function readMovers(
  read: ReadRows,
  businessId: string,
  { now, top }: { now: number; top: number },
): Promise<Movers> {
  const then = now - WEEK_MS
  const ours = `business_id = '${businessId}'`
  const rows = await read<Mover & { isRisen: number }>(
    `select contact_id as contactId, score, before, score > before as isRisen
    from (
      select contact_id, ${scoreSql(String(now))} as score,
        ${scoreSql(String(then), `if(at_ms <= ${then}, points, 0)`)} as before
      from (
        ${eventsSql({ columns: { at_ms: 'occurred_ms', points: 'toFloat64(5)' }, where: [] })}
        union all
        select assumeNotNull(contact_id), end_ms, if(kind = 'page_view', 1, active_ms / 60000)
        from web_hits
        where business_id = {business: UUID} and contact_id is not null and (kind = 'page_view' or active_ms > 0)
      )
      group by contact_id
    )
    where score != before
    order by abs(toInt16(score) - toInt16(before)) desc, contact_id
    limit ${top} by isRisen
    settings ${additionalTableFilters({ events: ours, web_events: ours, visitor_links: ours, contact_redirects: ours })}`,
    { business: businessId },
  )
  const those = (risen: number) => rows.flatMap(({ isRisen, ...mover }) => (isRisen === risen ? [mover] : []))
  return { risen: those(1), fallen: those(0) }
}
