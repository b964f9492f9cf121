/** Events over time: how many, by how many people, with how much revenue, or the sum of a property. */
import type { PropertyCondition } from '../rules/segments/rule.ts'
import { addedSql } from '../segments/clickhouse/windows-sql.ts'
import { type Breakdown, keyedSql, OTHER, valueOf } from './breakdown.ts'
import type { Buckets } from './buckets.ts'
import { bucketSql, eventsSql, isIn, isMeant } from './events-sql.ts'
import type { ReadRows } from './read-rows.ts'

export const MEASURES = ['count', 'contacts', 'revenue', 'sum'] as const
export type Measure = (typeof MEASURES)[number]

export interface SeriesQuery {
  /** Names; all events if it is empty. */
  events: readonly string[]
  measure: Measure
  /** Of a sum: the path of a numeric property. */
  property?: string
  /** Of revenue, and of the sum of `value`. */
  currency?: string
  where: readonly PropertyCondition[]
}

/** Figures of all buckets, in their order. `total` is of the whole period: a contact counts once. */
export interface Line {
  total: number
  points: number[]
}

export interface Row extends Line {
  /** Null: the events have none, or `isOther`. */
  value: string | null
  /** Of the values that have no row. */
  isOther: boolean
}

export interface Series extends Line {
  /** Greatest total first, the others last. Empty without a breakdown. */
  rows: Row[]
}

interface SeriesOptions {
  businessId: string
  buckets: Buckets
  breakdown?: Breakdown
  /** The number of values of a breakdown that get a row. */
  top: number
}

/** Rejects with QueryFault. */
export async function readSeries(
  read: ReadRows,
  query: SeriesQuery,
  { businessId, buckets, breakdown, top }: SeriesOptions,
): Promise<Series> {
  const source = sourceOf(query, buckets)
  const amount = `toString(${AGGREGATES[query.measure]})`
  const params = { business: businessId, events: query.events }
  const whole = await read<Found>(
    `select ${BUCKET}, '' as shown, ${amount} as amount
    from (${eventsSql(source)}) group by grouping sets ((bucket), ())`,
    params,
  )
  const line = lineOf(whole, buckets)
  if (breakdown === undefined) return { ...line, rows: [] }
  const rows = await read<Found>(
    `with base as (${keyedSql(breakdown, source)}),
      best as (
        select groupArray(key) as keys from (
          select key from (select *, arrayJoin(keys) as key from base)
          group by key order by ${AGGREGATES[query.measure]} desc, key limit ${top}
        )
      )
    select ${BUCKET}, shown, ${amount} as amount
    from (
      select *, arrayIntersect(keys, (select keys from best)) as kept,
        arrayJoin(if(empty(kept), ['${OTHER}'], kept)) as shown
      from base
    )
    group by grouping sets ((bucket, shown), (shown))`,
    { ...params, ...(breakdown.by === 'field' && { field: breakdown.name }) },
  )
  return { ...line, rows: rowsOf(rows, buckets) }
}

interface Found {
  /** Null for the whole period. */
  at: number | null
  shown: string
  amount: string
}

const BUCKET = 'if(grouping(bucket) = 1, null, bucket) as at'

const AGGREGATES: Record<Measure, string> = {
  count: 'count()',
  contacts: 'uniqExact(contact_id)',
  revenue: 'sumIf(added, is_added)',
  sum: 'sumIf(added, is_added)',
}

function sourceOf(query: SeriesQuery, buckets: Buckets): Parameters<typeof eventsSql>[0] {
  const { events, where } = query
  return {
    columns: { bucket: bucketSql(buckets), ...addedOf(query) },
    where: [
      isIn(buckets),
      ...(events.length > 0 ? ['event in {events: Array(String)}'] : []),
      ...(where.length > 0 ? [isMeant({ where }, '')] : []),
    ],
  }
}

/** Revenue is the sum of what was counted, as it is for rules of segments. */
function addedOf({ measure, property, currency }: SeriesQuery): Record<string, string> {
  if (measure !== 'revenue' && measure !== 'sum') return {}
  const of = measure === 'revenue' ? 'value' : property
  const { added, isAdded } = addedSql({
    event: '',
    metric: 'sum',
    operator: 'exists',
    ...(of !== undefined && { property: of }),
    ...(currency !== undefined && { currency }),
  })
  return { added, is_added: isAdded }
}

function lineOf(found: readonly Found[], { starts }: Buckets): Line {
  const amounts = new Map(found.map(({ at, amount }) => [at, Number(amount)]))
  return { total: amounts.get(null) ?? 0, points: starts.map((at) => amounts.get(at) ?? 0) }
}

function rowsOf(found: readonly Found[], buckets: Buckets): Row[] {
  const byKey = Map.groupBy(found, ({ shown }) => shown)
  const rows = [...byKey].map(([key, those]) => ({
    value: valueOf(key),
    isOther: key === OTHER,
    ...lineOf(those, buckets),
  }))
  return rows.toSorted(
    (one, other) =>
      Number(one.isOther) - Number(other.isOther) ||
      other.total - one.total ||
      ((one.value ?? '') < (other.value ?? '') ? -1 : 1),
  )
}
