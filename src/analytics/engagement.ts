/** The present engagement of contacts. */
import { additionalTableFilters } from '../timeline/reading/table-filters.ts'
import { contactsSql } from './events-sql.ts'
import type { ReadRows } from './read-rows.ts'

export interface Distribution {
  contacts: number
  /** Contacts without events, which have no score. */
  inactive: number
  /** Median of the others; null if there are none. */
  median: number | null
  /** `to` is included. */
  ranges: { from: number; to: number; contacts: number }[]
}

/** The score 100 is in the last one. */
const RANGES = 10

/** Returns the distribution of the score of the view `contact_engagement`. Rejects with QueryFault. */
export async function readEngagementScores(read: ReadRows, businessId: string): Promise<Distribution> {
  const params = { business: businessId }
  const [all] = await read<{ contacts: number }>(`select count() as contacts from (${contactsSql({})})`, params)
  const ours = `business_id = '${businessId}'`
  const scores = await read<{ score: number; contacts: number }>(
    `select score, count() as contacts from contact_engagement where business_id = {business: UUID}
    group by score order by score
    settings ${additionalTableFilters({ events: ours, web_events: ours, visitor_links: ours, contact_redirects: ours })}`,
    params,
  )
  const active = scores.reduce((sum, { contacts }) => sum + contacts, 0)
  const rangeOf = (score: number) => Math.min(RANGES - 1, Math.floor(score / RANGES))
  return {
    contacts: all?.contacts ?? 0,
    inactive: Math.max(0, (all?.contacts ?? 0) - active),
    median: medianOf(scores, active),
    ranges: Array.from({ length: RANGES }, (_, range) => ({
      from: range * 10,
      to: range === RANGES - 1 ? 100 : range * 10 + 9,
      contacts: scores.reduce((sum, { score, contacts }) => sum + (rangeOf(score) === range ? contacts : 0), 0),
    })),
  }
}

/** For an even number, the mean of the two middle values. */
function medianOf(scores: readonly { score: number; contacts: number }[], count: number): number | null {
  if (count === 0) return null
  const at = (place: number): number => {
    let passed = 0
    return scores.find(({ contacts }) => (passed += contacts) > place)?.score ?? 0
  }
  return (at(Math.floor((count - 1) / 2)) + at(Math.floor(count / 2))) / 2
}
