import type { Contact } from '../contacts/read-contact.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { fenceTables } from './fence-tables.ts'

/** How much somebody has to do with the business (docs/analytics.md). */
export interface Engagement {
  /** 0 to 100, whole, as of now. */
  score: number
  /** ISO 8601 UTC; null when they did nothing yet. */
  lastActiveAt: string | null
}

const PATIENCE_MS = 300

/** Null when ClickHouse does not say within 300 ms, for whatever reason: a contact is worth reading without it. */
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
  const contacts = `${ours} and contact_id in (${listOf([contactId, ...mergedFrom])})`
  // Only browsers with an id that we made capture anything.
  const browsers = `${ours} and visitor_id in (${listOf(['', ...visitorIds.filter((id) => MADE_ID.test(id))])})`
  const fence = fenceTables({
    events: contacts,
    contact_redirects: contacts,
    web_events: browsers,
    visitor_links: browsers,
  })
  const result = await clickhouse.query({
    query: `
      select score, last_active_ms from contact_engagement
      where business_id = {business: UUID} and contact_id = {contact: UUID}
      settings output_format_json_quote_64bit_integers = 0, max_execution_time = ${PATIENCE_MS / 1000}, ${fence}`,
    query_params: { business: businessId, contact: contactId },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return await result.json()
}

const MADE_ID = /^[\da-f]{32}$/
const listOf = (ids: string[]): string => ids.map((id) => `'${id}'`).join(', ')
