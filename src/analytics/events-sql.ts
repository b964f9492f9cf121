/** SQL for the recorded events of a business as charts read them: by surviving contact, without erased persons. */
import { PROPERTIES, propertyConditionSql } from '../segments/clickhouse/windows-sql.ts'
import { readableJson } from '../segments/clickhouse/json-sql.ts'
import type { PropertyCondition } from '../rules/segments/rule.ts'
import type { Buckets, Period } from './buckets.ts'

export interface EventsQuery {
  /**
   * Expressions over the columns of `events`, by the names that they get. Expressions on properties read
   * `readable_properties`.
   */
  columns: Record<string, string>
  /** Conditions that must all hold. */
  where: readonly string[]
}

/**
 * Returns a query that selects `contact_id` and the columns. It uses the parameter `business`, a UUID. It reads the
 * tables and not the view `timeline`, which joins the merged contacts of all businesses.
 */
export function eventsSql({ columns, where }: EventsQuery): string {
  const selected = Object.keys(columns).map((name) => `, happened.${name} as ${name}`)
  return `select coalesce(redirect.survivor_id, happened.contact_id) as contact_id${selected.join('')}
from (${recordedSql({ columns: { contact_id: 'contact_id', ...columns }, where })}) as happened
left join (${REDIRECTS}) as redirect on redirect.contact_id = happened.contact_id
where ifNull(redirect.erased, 0) = 0`
}

/** Selects events with the contacts for which they were recorded, without regard to later merges. */
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

/** Like `eventsSql` without `contact_id`. It is faster, because nothing is looked up per event. */
export function countedEventsSql({ columns, where }: EventsQuery): string {
  const erased = `select contact_id from (${REDIRECTS}) where erased = 1`
  return recordedSql({ columns, where: [...where, `contact_id not in (${erased})`] })
}

/**
 * Repeats the column `name` of a query over contacts for the ids of merged contacts, so that it can be joined with
 * events without a lookup of the survivor. The contacts are read once.
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
 * Selects a row for each contact with such an event: `contact_id` and the aggregates. The table is in the order of
 * contacts, so almost all contacts are aggregated one after the other, in little memory
 * (`optimize_aggregation_in_order`). Events are collected only for merged contacts.
 */
export function contactRowsSql({ columns, where, aggregates, having = '1' }: ContactRowsQuery): string {
  const selected = Object.entries(aggregates).map(([name, expression]) => `, ${expression} as ${name}`)
  const rowsOf = (events: string) =>
    `select contact_id${selected.join('')} from (${events}) group by contact_id having (${having})`
  const all = recordedSql({ columns: { contact_id: 'contact_id', ...columns }, where })
  // Over an aggregate, so that it is looked up once per contact and not per event.
  return `${rowsOf(all)} and any(contact_id) not in (${MERGED}) union all ${rowsOf(eventsSql({ columns, where: [...where, `contact_id in (${MERGED})`] }))}`
}

/** Both contacts of each merge, and erased ones. */
const MERGED = `select arrayJoin([contact_id, ifNull(survivor_id, contact_id)]) from (${REDIRECTS})`

/** Selects contacts as they are now, with the given columns: see `eventsSql`. */
export const contactsSql = (columns: Record<string, string>): string => `select contact_id${Object.entries(columns)
  .map(([name, expression]) => `, ${expression} as ${name}`)
  .join('')}
from contact_snapshots final
where business_id = {business: UUID} and merged_into is null and erased = 0`

/** A chart's condition on events. */
export interface EventCondition {
  /** Absent: any event. */
  event?: string
  /** Exactly as in rules of segments. */
  where: readonly PropertyCondition[]
}

/** Condition for events that match. `parameter`: the query's parameter with the name of the event. */
export function matchesEventSql({ event, where }: EventCondition, parameter: string): string {
  const tests = [...(event === undefined ? [] : [`event = {${parameter}: String}`]), ...where.map(propertyConditionSql)]
  return tests.length === 0 ? '1' : `(${tests.join(' and ')})`
}

export const isIn = ({ from, to }: Period): string => `occurred_ms >= ${from} and occurred_ms < ${to}`

/** The beginning of the bucket that contains an instant. Earlier instants are in the first bucket. */
export const bucketSql = ({ starts }: Pick<Buckets, 'starts'>, at = 'occurred_ms'): string =>
  `roundDown(${at}, ${startsSql({ starts })})`

export const startsSql = ({ starts }: Pick<Buckets, 'starts'>): string => `cast([${starts.join(', ')}], 'Array(Int64)')`

/** Later than every instant, in epoch milliseconds. */
export const NEVER = '9000000000000000'
