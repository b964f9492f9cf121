/** The recorded events of a business, as charts read them: by surviving contact, without those of erased people. */
import { PROPERTIES, propertyConditionSql } from '../segments/clickhouse/windows-sql.ts'
import { readableJson } from '../segments/clickhouse/json-sql.ts'
import type { PropertyCondition } from '../rules/segments/rule.ts'
import type { Buckets, Period } from './buckets.ts'

interface EventsQuery {
  /** Expressions by the names that they get, of the columns of `events`; those on properties read `readable_properties`. */
  columns: Record<string, string>
  /** All of them hold. */
  where: readonly string[]
}

/**
 * A query that selects `contact_id` and the columns. It takes the parameter `business`, a UUID. It reads the tables and not the view
 * `timeline`, which joins the merged contacts of all businesses.
 */
export function eventsSql({ columns, where }: EventsQuery): string {
  const names = Object.keys(columns)
  const selected = Object.entries(columns).map(([name, expression]) => `, ${expression} as ${name}`)
  const conditions = ['business_id = {business: UUID}', ...where].join(' and ')
  return `select coalesce(redirect.survivor_id, happened.contact_id) as contact_id${names.map((name) => `, happened.${name} as ${name}`).join('')}
from (
  select contact_id${selected.join('')}
  from ${[...selected, conditions].some((sql) => sql.includes(PROPERTIES)) ? WITH_PROPERTIES : 'events'}
  where ${conditions}
) as happened
left join (${REDIRECTS}) as redirect on redirect.contact_id = happened.contact_id
where ifNull(redirect.erased, 0) = 0`
}

const WITH_PROPERTIES = `(select *, ${readableJson('properties')} as ${PROPERTIES} from events)`

const REDIRECTS = `select contact_id, survivor_id, erased from contact_redirects final where business_id = {business: UUID}`

/** Contacts as they are now, with columns of their own: see `eventsSql`. */
export const contactsSql = (columns: Record<string, string>): string => `select contact_id${Object.entries(columns)
  .map(([name, expression]) => `, ${expression} as ${name}`)
  .join('')}
from contact_snapshots final
where business_id = {business: UUID} and merged_into is null and erased = 0`

/** What a chart asks of an event. */
export interface EventCondition {
  /** Any, if it is absent. */
  event?: string
  /** Exactly as in rules of segments. */
  where: readonly PropertyCondition[]
}

/** Whether an event is meant. `parameter`: of the query, with the name of the event. */
export function isMeant({ event, where }: EventCondition, parameter: string): string {
  const tests = [...(event === undefined ? [] : [`event = {${parameter}: String}`]), ...where.map(propertyConditionSql)]
  return tests.length === 0 ? '1' : `(${tests.join(' and ')})`
}

export const isIn = ({ from, to }: Period): string => `occurred_ms >= ${from} and occurred_ms < ${to}`

/** The beginning of the bucket that an instant is in; the first one's for what was before it. */
export const bucketSql = ({ starts }: Pick<Buckets, 'starts'>, at = 'occurred_ms'): string =>
  `roundDown(${at}, ${startsSql({ starts })})`

export const startsSql = ({ starts }: Pick<Buckets, 'starts'>): string => `cast([${starts.join(', ')}], 'Array(Int64)')`

/** Later than every instant, in epoch ms. */
export const NEVER = '9000000000000000'
