/** The recorded events of a business, as charts read them: by surviving contact, without those of erased people. */
import { PROPERTIES, propertyConditionSql } from '../segments/clickhouse/windows-sql.ts'
import { readableJson } from '../segments/clickhouse/json-sql.ts'
import type { PropertyCondition } from '../rules/segments/rule.ts'
import type { Buckets, Period } from './buckets.ts'

export interface EventsQuery {
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
  const selected = Object.keys(columns).map((name) => `, happened.${name} as ${name}`)
  return `select coalesce(redirect.survivor_id, happened.contact_id) as contact_id${selected.join('')}
from (${recordedSql({ columns: { contact_id: 'contact_id', ...columns }, where })}) as happened
left join (${REDIRECTS}) as redirect on redirect.contact_id = happened.contact_id
where ifNull(redirect.erased, 0) = 0`
}

/** Events of the contacts for which they were recorded, whatever became of them since. */
export function recordedSql({ columns, where }: EventsQuery): string {
  const selected = Object.entries(columns).map(([name, expression]) =>
    name === expression ? name : `${expression} as ${name}`,
  )
  const conditions = ['business_id = {business: UUID}', ...where].join(' and ')
  const table = [...selected, conditions].some((sql) => sql.includes(PROPERTIES)) ? WITH_PROPERTIES : 'events'
  return `select ${selected.join(', ')} from ${table} where ${conditions}`
}

const WITH_PROPERTIES = `(select *, ${readableJson('properties')} as ${PROPERTIES} from events)`

const REDIRECTS = `select contact_id, survivor_id, erased from contact_redirects final where business_id = {business: UUID}`

/** Like `eventsSql`, without `contact_id`: nothing is looked up for an event, so it is faster. */
export function countedEventsSql({ columns, where }: EventsQuery): string {
  const erased = `select contact_id from (${REDIRECTS}) where erased = 1`
  return recordedSql({ columns, where: [...where, `contact_id not in (${erased})`] })
}

/**
 * What a query says of contacts, in its column `name`, also by the ids of those that were merged into them: to join it with events, without
 * a look-up of the contact that survived. The contacts are read once.
 */
export const byRecordedContactSql = (contacts: string, name: string): string =>
  `select arrayJoin(arrayPushFront(merged.ids, contact.contact_id)) as contact_id, contact.${name} as ${name}
from (${contacts}) as contact
left join (
  select assumeNotNull(survivor_id) as survivor, groupArray(contact_id) as ids from (${REDIRECTS})
  where survivor_id is not null group by survivor
) as merged on merged.survivor = contact.contact_id`

interface ContactRowsQuery extends EventsQuery {
  /** Aggregates of the columns, by the names that they get. */
  aggregates: Record<string, string>
  having?: string
}

/**
 * A row for each contact that has such an event: `contact_id` and the aggregates. The table is in the order of contacts, so almost all of them
 * are aggregated one after the other, in little memory (`optimize_aggregation_in_order`). Only for contacts that were merged, the events
 * are collected.
 */
export function contactRowsSql({ columns, where, aggregates, having = '1' }: ContactRowsQuery): string {
  const selected = Object.entries(aggregates).map(([name, expression]) => `, ${expression} as ${name}`)
  const rowsOf = (events: string) =>
    `select contact_id${selected.join('')} from (${events}) group by contact_id having (${having})`
  const all = recordedSql({ columns: { contact_id: 'contact_id', ...columns }, where })
  // Of an aggregate, so that it is looked up once for a contact and not for each event.
  return `${rowsOf(all)} and any(contact_id) not in (${MERGED}) union all ${rowsOf(eventsSql({ columns, where: [...where, `contact_id in (${MERGED})`] }))}`
}

/** Both contacts of each merge, and erased ones. */
const MERGED = `select arrayJoin([contact_id, ifNull(survivor_id, contact_id)]) from (${REDIRECTS})`

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
export function matchesEventSql({ event, where }: EventCondition, parameter: string): string {
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
