import type { Contact } from '../../contacts/read/read-contact.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { scoreSql } from './engagement-score.ts'

/** How engaged a contact is with the business (docs/analytics.md). */
export interface Engagement {
  /** Integer from 0 to 100, as of now. */
  score: number
  /** ISO 8601 UTC; null before the first activity. */
  lastActiveAt: string | null
}

const PATIENCE_MS = 300

/**
 * Resolves with null when ClickHouse does not answer within 300 ms, for whatever reason: a contact is useful without
 * it. Computes the same as the view `contact_engagement`, for one person. The ids of the contact and its browsers are
 * already known (the newest that a contact lists), and a query of the view would cost more than reading all this.
 */
export async function readEngagement(
  clickhouse: ClickHouseClient,
  businessId: string,
  contact: Pick<Contact, 'contactId' | 'mergedFrom' | 'visitorIds'>,
): Promise<Engagement | null> {
  try {
    const [row] = await selectScore(clickhouse, businessId, contact)
    return row
      ? { score: row.score, lastActiveAt: new Date(row.last_active_ms).toISOString() }
      : { score: 0, lastActiveAt: null }
  } catch {
    return null
  }
}

async function selectScore(
  clickhouse: ClickHouseClient,
  businessId: string,
  { contactId, mergedFrom, visitorIds }: Pick<Contact, 'contactId' | 'mergedFrom' | 'visitorIds'>,
): Promise<{ score: number; last_active_ms: number }[]> {
  const ours = `business_id = '${businessId}'`
  const theirs = `contact_id in (${listOf([contactId, ...mergedFrom])})`
  // Only browsers with ids that Sluice created capture web events.
  const browsers = visitorIds.filter((id) => MADE_ID.test(id))
  const did = `select occurred_ms as at_ms, toFloat64(5) as points from events where ${ours} and ${theirs}`
  const parts = browsers.length === 0 ? [did] : [did, hitsOf(`${ours} and visitor_id in (${listOf(browsers)})`, theirs)]
  const result = await clickhouse.query({
    query: `
      select ${scoreSql('toUnixTimestamp64Milli(now64(3))')} as score,
        max(at_ms) as last_active_ms
      from (${parts.join(' union all ')})
      having count() > 0
      settings output_format_json_quote_64bit_integers = 0, max_execution_time = ${PATIENCE_MS / 1000}`,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return await result.json()
}

/** Web events that these browsers captured while they belonged to that person. */
const hitsOf = (browsers: string, theirs: string): string => `
  select if(kind = 'time', occurred_ms - idle_ms, occurred_ms) as at_ms,
    if(kind = 'page_view', 1, active_ms / 60000) as points
  from (
    select visitor_id, kind, occurred_ms, active_ms, idle_ms from web_events final where ${browsers}
  ) as e
  asof join (select visitor_id, from_ms, contact_id, erased from visitor_links final where ${browsers}) as l
    on l.visitor_id = e.visitor_id and e.occurred_ms >= l.from_ms
  where erased = 0 and ${theirs} and (kind = 'page_view' or active_ms > 0)`

const MADE_ID = /^[\da-f]{32}$/
const listOf = (ids: string[]): string => ids.map((id) => `'${id}'`).join(', ')
