/** Events over time: their number, the number of contacts, the revenue, or the sum of a property. */
import type { PropertyCondition } from '../rules/segments/rule.ts'
import { addedSql } from '../segments/clickhouse/windows-sql.ts'
import { type Breakdown, type Keys, keysOf, valueOf } from './breakdown.ts'
import type { Buckets } from './buckets.ts'
import { type EventsQuery, bucketSql, isIn, matchesEventSql } from './events-sql.ts'
import {
  MAX_CELLS,
  MAX_CODES,
  LATER_CODE,
  MAX_GROUPS,
  type Measure,
  allKeysSql,
  bestKeysSql,
  cellsSql,
  rankedCellsSql,
  withoutBest,
} from './series-sql.ts'
import type { ReadRows } from './read-rows.ts'

export interface SeriesQuery {
  /** Names of events; empty: all events. */
  events: readonly string[]
  measure: Measure
  /** For a sum: path of a numeric property. */
  property?: string
  /** For revenue, and for the sum of `value`. */
  currency?: string
  where: readonly PropertyCondition[]
}

/** Figures of all buckets, in order. `total` is for the whole period: a contact counts once. */
export interface Line {
  total: number
  points: number[]
}

export interface BreakdownRow extends Line {
  /** Null: the events have no value, or `isOther`. */
  value: string | null
  /** True for the values without their own row. */
  isOther: boolean
}

export interface Series extends Line {
  /** Greatest total first, the others last. Empty without a breakdown. */
  rows: BreakdownRow[]
}

interface SeriesOptions {
  businessId: string
  buckets: Buckets
  breakdown?: Breakdown
  /** Number of values of a breakdown with their own row. */
  top: number
}

/** Rejects with QueryFault. */
export async function readSeries(
  read: ReadRows,
  query: SeriesQuery,
  { businessId, buckets, breakdown, top }: SeriesOptions,
): Promise<Series> {
  const events = eventsOf(query, buckets)
  const params = { business: businessId, events: query.events }
  const readWhole = async (): Promise<Line> =>
    lineOf(await read<Cell>(cellsSql(query.measure, events), params), buckets)
  if (breakdown === undefined) return { ...(await readWhole()), rows: [] }
  const keys = keysOf(breakdown)
  const named = { ...params, ...(breakdown.by === 'field' && { field: breakdown.name }) }
  const ranked = await readRanked(read, query.measure, events, keys, {
    params: named,
    top,
    many: buckets.starts.length,
  })
  if (ranked !== null) return seriesOf(ranked.cells, ranked.best, buckets)
  const found = await read<{ key: string }>(bestKeysSql(query.measure, events, keys, top), named)
  const best = found.map(({ key }) => key)
  // Without values, all of them are others.
  const cells = await read<Cell>(cellsSql(query.measure, events, { keys, count: best.length }), { ...named, best })
  const series = seriesOf(cells, best, buckets)
  // A contact in two segments is in two rows.
  return keys.of === 'contact' && keys.areMany ? { ...series, ...(await readWhole()) } : series
}

interface Ranked {
  cells: Cell[]
  best: string[]
}

interface RankOptions {
  params: Record<string, unknown>
  top: number
  /** Number of buckets. */
  many: number
}

/** Reads all events once. Null where that is not possible: there are too many keys or cells, or a contact has several keys. */
async function readRanked(
  read: ReadRows,
  measure: Measure,
  events: EventsQuery,
  keys: Keys,
  { params, top, many }: RankOptions,
): Promise<Ranked | null> {
  if (keys.of === 'contact' && keys.areMany) return null
  const isListed = measure === 'contacts' || keys.of === 'contact'
  const all = isListed ? await read<{ key: string; groups: number }>(allKeysSql(events, keys), params) : []
  if (all.reduce((sum, { groups }) => sum + groups, 0) > MAX_CODES) return null
  if (measure === 'contacts') {
    const every = all.map(({ key }) => key)
    // Those of each key, of the keys after the first ones, and of all together; in each bucket, and in the whole period.
    if ((every.length + 2) * (many + 1) > MAX_CELLS) return null
    return await readRankedContacts(read, events, keys, every, { params, top })
  }
  const cells = await read<Cell & { key: string; groups: number }>(
    rankedCellsSql(measure, events, { keys, count: all.length }, top),
    { ...params, best: all.map(({ key }) => key) },
  )
  if (cells.some(({ groups }) => groups > MAX_GROUPS)) return null
  const best = cells.flatMap(({ at, shown, key }) =>
    at === null && shown !== null && shown > 0 ? [{ shown, key }] : [],
  )
  return { cells, best: best.toSorted((one, other) => one.shown - other.shown).map(({ key }) => key) }
}

/**
 * Counts the contacts of all keys. Where each contact has one key, the counts of the other keys are added up. A contact can have several
 * keys of events, so the contacts of the other keys are counted on the assumption that the keys with most contacts are those with most
 * events. If they are not, the other contacts are read again.
 */
async function readRankedContacts(
  read: ReadRows,
  events: EventsQuery,
  keys: Keys,
  every: readonly string[],
  { params, top }: Omit<RankOptions, 'many'>,
): Promise<Ranked> {
  const coded = { keys, count: every.length, ...(keys.of === 'event' && { first: top }) }
  const cells = await read<Cell>(cellsSql('contacts', events, coded), { ...params, best: every })
  const totals = cells.flatMap(({ at, shown, amount }) =>
    at === null && shown !== null && shown > 0 && shown !== LATER_CODE
      ? [{ shown, key: every[shown - 1] ?? '', total: Number(amount) }]
      : [],
  )
  const found = totals.toSorted((one, other) => other.total - one.total || (one.key < other.key ? -1 : 1)).slice(0, top)
  const best = found.map(({ key }) => key)
  const places = new Map<number | null, number>(found.map(({ shown }, place) => [shown, place + 1]))
  const own = cells.flatMap((cell) => {
    if (cell.shown === null) return [cell]
    const place = places.get(cell.shown)
    return place === undefined ? [] : [{ ...cell, shown: place }]
  })
  const readOthers = async (): Promise<Cell[]> => {
    if (keys.of === 'contact') return addUp(cells.filter(({ shown }) => shown !== null && !places.has(shown)))
    if (found.every(({ shown }) => shown <= top)) return cells.filter(({ shown }) => shown === LATER_CODE)
    return await read<Cell>(cellsSql('contacts', withoutBest(events, keys)), { ...params, best })
  }
  const others = (await readOthers()).map((cell) => ({ ...cell, shown: 0 }))
  return { cells: [...own, ...others], best }
}

const addUp = (cells: readonly Cell[]): Cell[] =>
  Array.from(
    Map.groupBy(cells, ({ at }) => at),
    ([at, those]) => ({ at, shown: 0, amount: String(those.reduce((sum, { amount }) => sum + Number(amount), 0)) }),
  )

const seriesOf = (cells: readonly Cell[], best: readonly string[], buckets: Buckets): Series => ({
  ...lineOf(
    cells.filter(({ shown }) => shown === null),
    buckets,
  ),
  rows: rowsOf(cells, best, buckets),
})

/** Amount of a bucket, and of a row of the breakdown. */
interface Cell {
  /** Null for the whole period. */
  at: number | null
  /** From 1: the place among the best keys; 0 for the others; null for all of them together. */
  shown: number | null
  amount: string
}

function eventsOf(query: SeriesQuery, buckets: Buckets): EventsQuery {
  const { events, where } = query
  return {
    columns: { bucket: bucketSql(buckets), ...addedOf(query) },
    where: [
      isIn(buckets),
      ...(events.length > 0 ? ['event in {events: Array(String)}'] : []),
      ...(where.length > 0 ? [matchesEventSql({ where }, '')] : []),
    ],
  }
}

/** Revenue is the sum of counted amounts, as in rules of segments. */
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

function lineOf(found: readonly Cell[], { starts }: Buckets): Line {
  const amounts = new Map(found.map(({ at, amount }) => [at, Number(amount)]))
  return { total: amounts.get(null) ?? 0, points: starts.map((at) => amounts.get(at) ?? 0) }
}

function rowsOf(cells: readonly Cell[], best: readonly string[], buckets: Buckets): BreakdownRow[] {
  const byKey = Map.groupBy(cells, ({ shown }) => shown)
  byKey.delete(null)
  const rows = [...byKey].map(([code, those]) => ({
    value: valueOf(best[(code ?? 0) - 1] ?? ''),
    isOther: code === 0,
    ...lineOf(those, buckets),
  }))
  return rows.toSorted(
    (one, other) =>
      Number(one.isOther) - Number(other.isOther) ||
      other.total - one.total ||
      ((one.value ?? '') < (other.value ?? '') ? -1 : 1),
  )
}
