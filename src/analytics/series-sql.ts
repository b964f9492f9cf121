/** ClickHouse queries for the figures of a series. */
import type { Keys } from './breakdown.ts'
import {
  type EventsQuery,
  NEVER,
  byRecordedContactSql,
  contactRowsSql,
  countedEventsSql,
  recordedSql,
} from './events-sql.ts'

export const MEASURES = ['count', 'contacts', 'revenue', 'sum'] as const
export type Measure = (typeof MEASURES)[number]

/** Events with `bucket`, and for sums with `added` and `is_added`. */
const AGGREGATES: Record<Exclude<Measure, 'contacts'>, string> = {
  count: 'count()',
  revenue: 'sumIf(added, is_added)',
  sum: 'sumIf(added, is_added)',
}

const keyOf = ({ value, keyOf }: Keys & { of: 'event' }): string => keyOf(value)

/** Maximum number of keys with their own code, which is one byte. */
export const MAX_CODES = 200
/** Maximum number of groups of a key and a bucket, because the memory of a query is limited. */
export const MAX_GROUPS = 200_000
/** Maximum number of cells that an answer of ClickHouse may have when it has those of all keys. */
export const MAX_CELLS = 50_000

/**
 * Returns a query that selects `key`: all keys that may have figures, those of events by their number of events; and
 * `groups`, which exceeds MAX_CODES when there are more.
 */
export function allKeysSql(events: EventsQuery, keys: Keys): string {
  if (keys.of === 'contact')
    return `select distinct arrayJoin(keys) as key, 1 as groups from (${keys.keys}) limit ${MAX_CODES + 1}`
  return `select ${keys.keyOf('given')} as key, count() as groups
    from (
      select given, count() as times from (${recordedSql({ ...events, columns: { given: keys.value } })}) group by given
    )
    group by key order by sum(times) desc, key
    settings max_rows_to_group_by = ${MAX_CODES + 1}, group_by_overflow_mode = 'break'`
}

/** The same events, without those of the keys in the parameter `best`. */
export const withoutBest = (events: EventsQuery, keys: Keys & { of: 'event' }): EventsQuery => ({
  ...events,
  where: [...events.where, `${keyOf(keys)} not in {best: Array(String)}`],
})

/**
 * Returns a query that selects in one read of the events what `cellsSql` selects for the keys with the greatest
 * amounts, and `key`: all keys are counted, and then those without a row are added up. `groups` exceeds MAX_GROUPS when
 * there are too many; then the cells are wrong. The parameter `best` has all keys of contacts, `count` of them. Other
 * measures than those of events are not supported.
 */
export function rankedCellsSql(
  measure: Exclude<Measure, 'contacts'>,
  events: EventsQuery,
  { keys, count }: Coded,
  top: number,
): string {
  // Not for contacts: it would also cut the list of merged contacts.
  const limit =
    keys.of === 'event' ? ` settings max_rows_to_group_by = ${MAX_GROUPS}, group_by_overflow_mode = 'break'` : ''
  const parts =
    keys.of === 'event'
      ? `select ${keys.keyOf('given')} as key, 1 as is_known, bucket, sum(part) as part, count() as groups
        from (
          select given, bucket, ${AGGREGATES[measure]} as part
          from (${countedEventsSql({ ...events, columns: { ...events.columns, given: keys.value } })}) group by given, bucket
        )
        group by key, bucket`
      : `select {best: Array(String)}[code] as key, code > 0 as is_known, bucket, ${AGGREGATES[measure]} as part, 1 as groups
        from (${codedSql(events, { keys, count })}) group by code, bucket`
  return `select if(grouping(bucket) = 1, null, bucket) as at, if(grouping(code) = 1, null, code) as shown,
      if(shown > 0, any(key), '') as key, toString(sum(part)) as amount, sum(groups) as groups
    from (
      select *, if(is_known and place <= ${top}, place, 0) as code
      from (
        select *, dense_rank() over (order by is_known desc, total desc, key) as place
        from (select *, sum(part) over (partition by is_known, key) as total from (${parts}))
      )
    )
    group by grouping sets ((bucket, code), (code), (bucket), ())${limit}`
}

/** Returns a query that selects `key`: the keys with the greatest amounts, greatest first. */
export function bestKeysSql(measure: Measure, events: EventsQuery, keys: Keys, top: number): string {
  const best = (amount: string) => `group by key order by ${amount} desc, key limit ${top}`
  if (measure === 'contacts') {
    const contacts =
      keys.of === 'event'
        ? contactRowsSql({ ...events, columns: { key: keyOf(keys) }, aggregates: { keys: 'groupUniqArray(key)' } })
        : withKeys(contactRowsSql({ ...events, columns: {}, aggregates: {} }), keys.keys)
    return `select arrayJoin(keys) as key from (${contacts}) ${best('count()')}`
  }
  if (keys.of === 'event') {
    const columns = { ...events.columns, key: keyOf(keys) }
    return `select key from (${countedEventsSql({ ...events, columns })}) ${best(AGGREGATES[measure])}`
  }
  // By contact first, so that keys are looked up once per contact and not per event.
  const parts = `select contact_id, ${AGGREGATES[measure]} as part from (${ofContacts(events)}) group by contact_id`
  return `select arrayJoin(keys) as key from (${withKeys(parts, byRecordedContactSql(keys.keys, 'keys'))}) ${best('sum(part)')}`
}

/** By the contacts for which the events were recorded. */
const ofContacts = (events: EventsQuery): string =>
  countedEventsSql({ ...events, columns: { contact_id: 'contact_id', ...events.columns } })

interface Coded {
  keys: Keys
  /** Number of keys in the parameter `best`. The n-th key has the code n; all other keys have 0. */
  count: number
  /**
   * For contacts and keys of events: contacts who have a key other than the first ones get cells with LATER_CODE, too.
   */
  first?: number
}

/**
 * Returns a query that selects `at`, `shown` and `amount` (a text) for each bucket and each code, for all buckets
 * together (`at` is null), and for all codes together (`shown` is null).
 */
export function cellsSql(measure: Measure, events: EventsQuery, coded?: Coded): string {
  if (measure === 'contacts') return contactCellsSql(events, coded)
  const code = coded ? ', code' : ''
  return `select if(grouping(bucket) = 1, null, bucket) as at, ${coded ? 'if(grouping(code) = 1, null, code)' : 'null'} as shown,
      toString(sum(part)) as amount
    from (select bucket${code}, ${AGGREGATES[measure]} as part from (${codedSql(events, coded)}) group by bucket${code})
    group by grouping sets (${coded ? '(bucket, code), (code), ' : ''}(bucket), ())`
}

/** Events with `code`. */
function codedSql(events: EventsQuery, coded: Coded | undefined): string {
  if (coded === undefined) return countedEventsSql(events)
  const { keys, count } = coded
  if (keys.of === 'event')
    return countedEventsSql({ ...events, columns: { ...events.columns, code: codeSql(keyOf(keys), count) } })
  const codes = byRecordedContactSql(codesSql(keys, count), 'codes')
  // A number costs a join less than a list. The first element of an empty list is 0.
  return keys.areMany
    ? `select happened.*, ${eachOf('contact.codes')} as code from (${ofContacts(events)}) as happened
      any left join (${codes}) as contact on contact.contact_id = happened.contact_id`
    : `select happened.*, contact.code as code from (${ofContacts(events)}) as happened
      any left join (select contact_id, codes[1] as code from (${codes})) as contact on contact.contact_id = happened.contact_id`
}

/** A contact in a bucket with a code is one number, so that sorting finds equal ones. */
const CODE_BITS = 8
const CODES = 2 ** CODE_BITS
/** Codes for all keys together, and for keys after the first ones; a bucket for the whole period. */
const EVERY_CODE = CODES - 1
export const LATER_CODE = CODES - 2
const EVERY_BUCKET = `toInt64(${NEVER})`

function contactCellsSql(events: EventsQuery, coded: Coded | undefined): string {
  const code = coded?.keys.of === 'event' ? codeSql(keyOf(coded.keys), coded.count) : 'toUInt8(0)'
  const contacts = contactRowsSql({
    ...events,
    columns: { ...events.columns, code },
    aggregates: { cells: distinct(`groupArray(bucket * ${CODES} + code)`) },
  })
  const rows =
    coded === undefined || coded.keys.of === 'event'
      ? contacts
      : `select arrayMap(cell -> cell + code, happened_cells) as cells from (
        select happened.cells as happened_cells, ${eachOf('contact.codes')} as code from (${contacts}) as happened
        any left join (${codesSql(coded.keys, coded.count)}) as contact on contact.contact_id = happened.contact_id)`
  const codeOf = `bitAnd(cell, ${CODES - 1})`
  const later = `arrayFilter(cell -> ${codeOf} = 0 or ${codeOf} > ${coded?.first}, cells)`
  const all = [
    ...(coded ? ['cells', distinct(`arrayMap(cell -> ${EVERY_BUCKET} * ${CODES} + ${codeOf}, cells)`)] : []),
    ...(coded?.first === undefined
      ? []
      : [
          `arrayCompact(arrayMap(cell -> cell - ${codeOf} + ${LATER_CODE}, ${later}))`,
          `if(empty(${later}), [], [${EVERY_BUCKET} * ${CODES} + ${LATER_CODE}])`,
        ]),
    `arrayCompact(arrayMap(cell -> bitOr(cell, ${EVERY_CODE}), cells))`,
    `[${EVERY_BUCKET} * ${CODES} + ${EVERY_CODE}]`,
  ]
  return `select nullIf(bitShiftRight(cell, ${CODE_BITS}), ${EVERY_BUCKET}) as at, nullIf(bitAnd(cell, ${CODES - 1}), ${EVERY_CODE}) as shown,
      toString(count()) as amount
    from (select arrayJoin(arrayConcat(${all.join(', ')})) as cell from (${rows}))
    group by cell`
}

const distinct = (array: string): string => `arrayCompact(arraySort(${array}))`

/** A contact that has not reached ClickHouse yet has no keys. */
const withKeys = (rows: string, keys: string): string =>
  `select happened.*, contact.keys as keys from (${rows}) as happened
  any left join (${keys}) as contact on contact.contact_id = happened.contact_id`

/** Returns a query that selects `contact_id` and `codes`: the codes of its keys. */
const codesSql = ({ keys }: Keys & { of: 'contact' }, count: number): string =>
  `select contact_id, arrayFilter(one -> one > 0, arrayMap(key -> ${codeSql('key', count)}, keys)) as codes from (${keys})`

/** One row per code. A contact without codes has the code 0, like one that has not reached ClickHouse yet. */
const eachOf = (codes: string): string => `arrayJoin(if(empty(${codes}), [toUInt8(0)], ${codes}))`

const codeSql = (key: string, count: number): string =>
  count === 0
    ? 'toUInt8(0)'
    : `transform(${key}, {best: Array(String)}, [${Array.from({ length: count }, (_, n) => `toUInt8(${n + 1})`).join(', ')}], toUInt8(0))`
