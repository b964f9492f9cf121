/** Series: events over time. */
import type { Breakdown } from '../../../analytics/breakdown.ts'
import { type Buckets, type Calendar, INTERVALS, divide, shift } from '../../../analytics/buckets.ts'
import { type Formula, readFormula } from '../../../analytics/formula.ts'
import { labelSegments } from '../../../analytics/label-segments.ts'
import { type Line, type Series, type SeriesQuery, readSeries } from '../../../analytics/series.ts'
import { MEASURES } from '../../../analytics/series-sql.ts'
import { checkCurrency } from '../../../rules/segments/reading/read-event-condition.ts'
import { readPropertyPath } from '../../../rules/segments/reading/property-path.ts'
import { checkWords, fault, isObject, readOneOf, wordOf } from '../../../rules/segments/reading/reading.ts'
import { trimText } from '../../../rules/events/text.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { PERIOD_PARAMETERS, chartEndpoint, intervalParameter, toIso } from './chart.ts'
import {
  MAX_BUCKETS,
  type Parameters,
  readBuckets,
  readCalendar,
  readChoice,
  readEventName,
  readJsonText,
  readParameters,
  readPeriod,
  readWhere,
  readWhole,
} from './read-parameters.ts'
import { SeriesData } from './schemas.ts'

const MAX_SERIES = 2
const MAX_EVENTS = 10
const MAX_TOP = 25
const MAX_PATH = 200
const MAX_FORMULA = 100
const FOUND = 'The series.'

interface SeriesParameters {
  calendar: Calendar
  buckets: Buckets
  /** The period before, for comparison. */
  earlier?: Buckets
  queries: SeriesQuery[]
  breakdown?: Breakdown
  top: number
  formula?: Formula
}

function read(parameters: Parameters): SeriesParameters | undefined {
  const calendar = readCalendar(parameters, INTERVALS, 'day')
  const buckets = readBuckets(parameters, readPeriod(parameters), calendar, MAX_BUCKETS)
  const queries = readQueries(parameters)
  const breakdown = readBreakdown(parameters)
  const formula = readFormulaText(parameters, queries.length)
  const top = readWhole(parameters, 'top', { most: MAX_TOP, otherwise: 10 })
  const isCompared = readChoice(parameters, 'compare', ['true', 'false'], 'false') === 'true'
  if (buckets === undefined) return undefined
  const earlier = isCompared ? bucketsBefore(buckets, calendar) : undefined
  return {
    calendar,
    buckets,
    queries,
    top,
    ...(earlier && { earlier }),
    ...(breakdown && { breakdown }),
    ...(formula && { formula }),
  }
}

/** Returns the period before: the same number of intervals, earlier. */
export function bucketsBefore({ from, to, starts }: Buckets, calendar: Calendar): Buckets {
  const earlier = (at: number) => shift(at, -starts.length, calendar)
  const period = { from: earlier(from), to: earlier(to) }
  return divide(period, calendar, starts.length) ?? { ...period, starts: starts.map(earlier) }
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
  checkCurrency({ ...parameters, fields: new Map(), conditions: 0, segments: [] }, raw, path)
  const sent = raw['currency']
  return typeof sent === 'string' ? trimText(sent).toUpperCase() : parameters.currency
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

function apply(formula: Formula, [a, b]: readonly (Line | undefined)[]) {
  if (a === undefined || b === undefined) return null
  return { total: formula(a.total, b.total), points: a.points.map((one, place) => formula(one, b.points[place] ?? 0)) }
}

export const seriesEndpoint: BusinessEndpoint = chartEndpoint({
  path: '/series',
  message: FOUND,
  async read(app, context, principal, reader) {
    const { calendar, buckets, earlier, queries, breakdown, top, formula } = readParameters(context, principal, read)
    const businessId = principal.business.id
    const found: Series[] = []
    const before: Series[] = []
    for (const query of queries) {
      found.push(await readSeries(reader, query, { businessId, buckets, top, ...(breakdown && { breakdown }) }))
      if (earlier) before.push(await readSeries(reader, query, { businessId, buckets: earlier, top }))
    }
    const ids = breakdown?.by === 'segment' ? found.flatMap(({ rows }) => rows.flatMap(({ value }) => value ?? [])) : []
    const labels = await labelSegments(app.sql, businessId, ids)
    return {
      from: toIso(buckets.from),
      to: toIso(buckets.to),
      ...calendar,
      buckets: buckets.starts.map(toIso),
      series: found.map(({ rows, ...line }, place) => ({
        currency: queries[place]?.currency ?? null,
        ...line,
        rows: rows.map(({ value, ...row }) => ({ value, label: labels.get(value ?? '') ?? null, ...row })),
        before: before[place] ? withoutRows(before[place]) : null,
      })),
      formula: formula ? { ...apply(formula, found), before: apply(formula, before) } : null,
      comparedWith: earlier
        ? { from: toIso(earlier.from), to: toIso(earlier.to), buckets: earlier.starts.map(toIso) }
        : null,
    }
  },
  operation: {
    summary: 'Read events over time',
    description:
      'Up to two series, each with the events that you name: their number, the contacts who did them, their revenue in one ' +
      'currency, or the sum of a numeric property. What merged contacts did counts for the survivor; erased people are left out.',
    query: {
      series: {
        schema: { type: 'string', default: '[{"measure":"count"}]' },
        description:
          'JSON: a list of 1 or 2 objects with `measure` (count, contacts, revenue or sum), `events` (at most 10 names; all events ' +
          'when left out), `where` (as in rules of segments), `property` (of a sum), `currency` (of revenue; when left out, that of ' +
          'the business).',
      },
      ...PERIOD_PARAMETERS,
      ...intervalParameter(INTERVALS, 'day'),
      breakdown: {
        schema: { type: 'string' },
        description:
          'event, source, stage, country, segment, `field:` and the key of a custom field, or `property:` and the path of a ' +
          'property. Stage, country, fields and segments are those of the contact now. A contact can be in several segments.',
      },
      top: {
        schema: { type: 'integer', minimum: 1, maximum: MAX_TOP, default: 10 },
        description: 'The number of values that get a row; the others share one.',
      },
      compare: { schema: { enum: ['true', 'false'], default: 'false' }, description: 'Also read the period before.' },
      formula: {
        schema: { type: 'string', maxLength: MAX_FORMULA },
        description: 'Arithmetic on the two series, `a` and `b`, such as `100 * b / a`.',
      },
    },
  },
  reply: {
    description: 'The figures of each interval, and of the whole time range.',
    data: SeriesData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-03T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'day',
      buckets: ['2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'],
      series: [
        {
          currency: null,
          total: 3,
          points: [1, 2],
          rows: [{ value: 'signup', label: null, isOther: false, total: 3, points: [1, 2] }],
          before: null,
        },
      ],
      formula: null,
      comparedWith: null,
    },
  },
})
