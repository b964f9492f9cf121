/** Series: events over time. */
import { trimText } from '../../rules/events/text.ts'
import { readPropertyPath } from '../../rules/segments/reading/property-path.ts'
import { checkCurrency } from '../../rules/segments/reading/read-event-condition.ts'
import { checkWords, fault, isObject, readOneOf, wordOf } from '../../rules/segments/reading/reading.ts'
import type { Breakdown } from '../breakdown.ts'
import { type Formula, readFormula } from '../formula.ts'
import { labelSegments } from '../label-segments.ts'
import { MEASURES } from '../series-sql.ts'
import { type Line, type Series, type SeriesQuery, readSeries } from '../series.ts'
import { type ChartStores, showBuckets } from './chart.ts'
import {
  type Parameters,
  readComparedBuckets,
  readEventName,
  readJsonText,
  readWhere,
  readWhole,
} from './parameters.ts'

const MAX_SERIES = 2
const MAX_EVENTS = 10
export const MAX_TOP = 25
const MAX_PATH = 200
export const MAX_FORMULA = 100

export function seriesChart(parameters: Parameters) {
  const compared = readComparedBuckets(parameters)
  const queries = readQueries(parameters)
  const breakdown = readBreakdown(parameters)
  const formula = readFormulaText(parameters, queries.length)
  const top = readWhole(parameters, 'top', { most: MAX_TOP, otherwise: 10 })
  if (compared === undefined) return undefined
  const { calendar, buckets, earlier } = compared
  const { id: businessId } = parameters.business
  return async ({ sql, openReader }: ChartStores) => {
    const read = openReader()
    const found: Series[] = []
    const before: Series[] = []
    for (const query of queries) {
      found.push(await readSeries(read, query, { businessId, buckets, top, ...(breakdown && { breakdown }) }))
      if (earlier) before.push(await readSeries(read, query, { businessId, buckets: earlier, top }))
    }
    const ids = breakdown?.by === 'segment' ? found.flatMap(({ rows }) => rows.flatMap(({ value }) => value ?? [])) : []
    const labels = await labelSegments(sql, businessId, ids)
    const calculated = apply(formula, found)
    return {
      ...showBuckets(buckets),
      ...calendar,
      series: found.map(({ rows, ...line }, place) => ({
        currency: queries[place]?.currency ?? null,
        ...line,
        rows: rows.map(({ value, ...row }) => ({ value, label: labels.get(value ?? '') ?? null, ...row })),
        before: before[place] ? withoutRows(before[place]) : null,
      })),
      formula: calculated && { ...calculated, before: apply(formula, before) },
      comparedWith: earlier && showBuckets(earlier),
    }
  }
}

function readQueries(parameters: Parameters): SeriesQuery[] {
  const raw = parameters.query.has('series') ? readJsonText(parameters, 'series') : [{ measure: 'count' }]
  if (Array.isArray(raw) && raw.length >= 1 && raw.length <= MAX_SERIES)
    return raw.map((one: unknown, place) => readQuery(parameters, one, `series[${place}]`))
  if (raw !== undefined) fault(parameters, 'series', 'series', { max: MAX_SERIES })
  return []
}

function readQuery(parameters: Parameters, raw: unknown, path: string): SeriesQuery {
  const query: SeriesQuery = { events: [], measure: 'count', where: [] }
  if (!isObject(raw)) {
    fault(parameters, path, 'object_of', { fields: 'measure' })
    return query
  }
  const measure = readOneOf(parameters, raw['measure'], `${path}.measure`, MEASURES) ?? 'count'
  const words = WORDS[measure]
  checkWords(parameters, raw, path, ['events', 'measure', 'where', ...words])
  return {
    ...query,
    measure,
    events: readEvents(parameters, raw['events'], `${path}.events`),
    where: readWhere(parameters, wordOf(raw, 'where'), `${path}.where`),
    ...(measure === 'sum' && { property: readPath(parameters, wordOf(raw, 'property'), `${path}.property`) }),
    ...(words.includes('currency') && { currency: readCurrency(parameters, raw, path) }),
  }
}

const WORDS: Record<SeriesQuery['measure'], string[]> = {
  count: [],
  contacts: [],
  revenue: ['currency'],
  sum: ['property', 'currency'],
}

function readEvents(parameters: Parameters, raw: unknown, path: string): string[] {
  if (raw === undefined || raw === null) return []
  if (Array.isArray(raw) && raw.length <= MAX_EVENTS)
    return raw.map((name: unknown, place) => readEventName(parameters, name, `${path}[${place}]`))
  fault(parameters, path, 'events', { max: MAX_EVENTS })
  return []
}

const readPath = (parameters: Parameters, raw: unknown, path: string): string =>
  readPropertyPath(parameters, raw, path, MAX_PATH) ?? ''

function readCurrency(parameters: Parameters, raw: Record<string, unknown>, path: string): string {
  checkCurrency({ ...parameters, fields: new Map(), topics: null, conditions: 0, segments: [] }, raw, path)
  const sent = raw['currency']
  return typeof sent === 'string' ? trimText(sent).toUpperCase() : parameters.business.currency
}

function readBreakdown(parameters: Parameters): Breakdown | undefined {
  const text = parameters.query.get('breakdown')
  if (text === null) return undefined
  const simple = (['event', 'source', 'stage', 'country', 'segment'] as const).find((one) => one === text)
  if (simple) return { by: simple }
  const [, by, name = ''] = /^(field|property):([^]+)$/.exec(text) ?? []
  if (by === 'field' || by === 'property') {
    parameters.noteValues()
    return { by, name: readPath(parameters, name, 'breakdown') }
  }
  fault(parameters, 'breakdown', 'breakdown')
  return undefined
}

function readFormulaText(parameters: Parameters, series: number): Formula | undefined {
  const text = parameters.query.get('formula')
  if (text === null) return undefined
  const formula = text.length <= MAX_FORMULA ? readFormula(text) : undefined
  if (formula === undefined) fault(parameters, 'formula', 'formula', { max: MAX_FORMULA })
  if (series !== MAX_SERIES) fault(parameters, 'formula', 'formula_of_two')
  return formula
}

const withoutRows = ({ total, points }: Line): Line => ({ total, points })

/** Null without a formula, and without the series that were read for it. */
function apply(formula: Formula | undefined, [a, b]: readonly (Line | undefined)[]) {
  if (formula === undefined || a === undefined || b === undefined) return null
  return { total: formula(a.total, b.total), points: a.points.map((one, place) => formula(one, b.points[place] ?? 0)) }
}
