/** Reads the figures of a chart for last week and for the week before, from the chart that its page shows. */
import { addDays } from '../../../rules/boards/mail-week.ts'
import { STAGES } from '../../../rules/events/journey-stage.ts'
import type { ChartData, ComputedKind } from '../../charts/charts.ts'
import { type Figure, type Name, type Unit, type Word, text, word } from './summary.ts'

type Query = Record<string, string>
export type Ask = (query: Query) => Promise<object>

/** Returns all figures, the most important first. `week`: date of the Monday after last week. */
export function readFigures(kind: ComputedKind, query: Query, week: string, ask: Ask): Promise<Figure[]> {
  return READERS[kind]({ query, week, ask })
}

interface ChartRequest {
  query: Query
  week: string
  ask: Ask
}

interface ByWeek {
  weeks?: number
  others?: Query
}

/** Reads the last weeks in one answer, as its intervals. */
async function readByWeek<Data>(
  { query, week, ask }: ChartRequest,
  { weeks = 2, others = {} }: ByWeek = {},
): Promise<Data> {
  const { compare: _, ...rest } = query
  return (await ask({ ...rest, ...others, interval: 'week', from: addDays(week, -7 * weeks), to: week })) as Data
}

const ONE_PERIOD = { periods: '1' }

/** Reads each week in an answer of its own. */
async function readBothWeeks<Data>({ query, week, ask }: ChartRequest): Promise<[last: Data, before: Data]> {
  const last = (await ask({ ...query, from: addDays(week, -7), to: week })) as Data
  return [last, (await ask({ ...query, from: addDays(week, -14), to: addDays(week, -7) })) as Data]
}

const figure = (name: readonly Name[], unit: Unit, [before, last]: readonly (number | null | undefined)[]): Figure => ({
  name,
  unit,
  last: last ?? null,
  before: before ?? null,
})

interface SeriesDefinition {
  measure?: 'count' | 'contacts' | 'revenue' | 'sum'
  events?: string[]
  property?: string
}

async function readSeries(request: ChartRequest): Promise<Figure[]> {
  const { series, formula } = await readByWeek<ChartData<'series'>>(request)
  const definitions = JSON.parse(request.query['series'] ?? '[{}]') as SeriesDefinition[]
  const figures = series.flatMap(({ currency, points, rows }, at) => {
    const { measure = 'count', events = [], property } = definitions[at] ?? {}
    const unit: Unit = measure === 'revenue' || property === 'value' ? { money: currency } : 'number'
    const name = word(measure, measure === 'sum' ? property : undefined)
    const names = events.length === 0 ? [name, word('allEvents')] : [name, text(events.join(', '))]
    if (rows.length === 0) return [figure(names, unit, points)]
    return rows.map(({ value, label, isOther, points: own }) => {
      const row = isOther ? word('others') : value === null ? word('noValue') : text(label ?? value)
      return figure(series.length === 1 ? [row] : [name, row], unit, own)
    })
  })
  if (formula === null) return figures
  return [figure([word('formula'), text(request.query['formula'] ?? '')], 'number', formula.points), ...figures]
}

async function readFunnel(request: ChartRequest): Promise<Figure[]> {
  const [last, before] = await readBothWeeks<ChartData<'funnel'>>(request)
  const ends = [before.steps.at(-1)?.conversion, last.steps.at(-1)?.conversion]
  const steps = last.steps.map(({ event, contacts }, at) => {
    const number = word('step', String(at + 1))
    return figure(event === null ? [number] : [number, text(event)], 'number', [before.steps[at]?.contacts, contacts])
  })
  return [figure([word('conversion')], 'share', ends), ...steps]
}

/** Reads the share of people who came back in the week after the one in which they began. */
async function readRetention(request: ChartRequest): Promise<Figure[]> {
  const { cohorts } = await readByWeek<ChartData<'retention'>>(request, { weeks: 3, others: ONE_PERIOD })
  const [first, second, third] = cohorts.slice(-3)
  const share = (cohort: typeof first) =>
    cohort === undefined || cohort.contacts === 0 ? null : (cohort.returned[1] ?? 0) / cohort.contacts
  return [
    figure([word('newContacts')], 'number', [second?.contacts, third?.contacts]),
    figure([word('cameBack')], 'share', [share(first), share(second)]),
  ]
}

async function readLifecycle(request: ChartRequest): Promise<Figure[]> {
  const { buckets } = await readByWeek<ChartData<'lifecycle'>>(request)
  const weeks = buckets.slice(-2)
  return (['new', 'returning', 'resurrecting', 'dormant'] as const).map((key) =>
    figure(
      [word(key)],
      'number',
      weeks.map((one) => one[key]),
    ),
  )
}

/** The number of contacts in a stage is known only for the present. */
async function readStages(request: ChartRequest): Promise<Figure[]> {
  const { stages, moves } = await readByWeek<ChartData<'stages'>>(request)
  return [
    ...stages.map(({ stage, contacts }) => figure([stageName(stage)], 'number', [null, contacts])),
    ...moves.map(({ from, to, points }) =>
      figure(
        from === null ? [word('new'), stageName(to)] : [stageName(from), text('→'), stageName(to)],
        'number',
        points,
      ),
    ),
  ]
}

const stageName = (stage: string): Name => {
  const known = STAGES.find((one) => one === stage)
  return known === undefined ? text(stage) : word(known)
}

const AMOUNTS = ['net', 'gross', 'refunds'] as const
const COUNTS = ['orders', 'customers'] as const

async function readRevenue(request: ChartRequest): Promise<Figure[]> {
  const { currencies } = await readByWeek<ChartData<'revenue'>>(request)
  return currencies.flatMap(({ currency, points }) => [
    ...AMOUNTS.map((key) =>
      figure(
        [word(key)],
        { money: currency },
        points.map((one) => one[key]),
      ),
    ),
    ...COUNTS.map((key) =>
      figure(
        [word(key), text(currency ?? '')],
        'number',
        points.map((one) => one[key]),
      ),
    ),
  ])
}

async function readCohorts(request: ChartRequest): Promise<Figure[]> {
  const { cohorts, currency } = await readByWeek<ChartData<'cohorts'>>(request, { others: ONE_PERIOD })
  const weeks = cohorts.slice(-2)
  return [
    figure(
      [word('newCustomers')],
      'number',
      weeks.map(({ customers }) => customers),
    ),
    figure(
      [word('firstWeekValue')],
      { money: currency },
      weeks.map(({ lifetimeValue: [value] }) => value),
    ),
  ]
}

/** Shows the number of conversions when the chart names an event, which may have no revenue; otherwise the revenue. */
async function readAttribution(request: ChartRequest): Promise<Figure[]> {
  const [last, before] = await readBothWeeks<ChartData<'attribution'>>(request)
  const ofEvent = request.query['event'] !== undefined
  return match(listOf(last), listOf(before), keyOfTouch, (row) =>
    ofEvent
      ? { name: [text(nameOfTouch(row)), text(row.currency ?? '')], unit: 'number', value: row.conversions }
      : { name: [text(nameOfTouch(row))], unit: { money: row.currency }, value: row.revenue },
  )
}

const listOf = ({ rows, truncated }: ChartData<'attribution'>): List<Touch> => ({ rows, isCut: truncated })

type Touch = ChartData<'attribution'>['rows'][number]
const nameOfTouch = ({ channel, source, medium, campaign, landingPage }: Touch): string =>
  [channel, source, medium, campaign, landingPage].filter(Boolean).join(' · ') || '–'
const keyOfTouch = ({ channel, source, medium, campaign, landingPage, currency }: Touch): string =>
  JSON.stringify([channel, source, medium, campaign, landingPage, currency])

async function readTraffic(request: ChartRequest): Promise<Figure[]> {
  const { points } = await readByWeek<ChartData<'web'>>(request)
  const counts = ['visitors', 'sessions', 'pageViews'] as const
  return [
    ...counts.map((key) =>
      figure(
        [word(key)],
        'number',
        points.map((one) => one[key]),
      ),
    ),
    figure(
      [word('bounceRate')],
      'share',
      points.map(({ bounceRate }) => bounceRate),
    ),
  ]
}

/** The maximum of the endpoint, so that most rows of one week are found among those of the other. */
const TOP = 100

const readTop = <Data>({ query, ...request }: ChartRequest): Promise<[last: Data, before: Data]> =>
  readBothWeeks<Data>({ ...request, query: { ...query, top: String(TOP) } })

async function readPages(request: ChartRequest): Promise<Figure[]> {
  const [last, before] = await readTop<ChartData<'pages'>>(request)
  const show = ({ page, views }: (typeof last.pages)[number]) =>
    ({ name: [text(page)], unit: 'number', value: views }) as const
  return match(topOf(last.pages), topOf(before.pages), ({ page }) => page, show).slice(0, shownOf(request))
}

async function readSources(request: ChartRequest): Promise<Figure[]> {
  const [last, before] = await readTop<ChartData<'sources'>>(request)
  const show = ({ value, sessions }: (typeof last.sources)[number]) =>
    ({ name: [value === null ? word('noValue') : text(value)], unit: 'number', value: sessions }) as const
  const keyOf = ({ value }: (typeof last.sources)[number]) => JSON.stringify(value)
  return match(topOf(last.sources), topOf(before.sources), keyOf, show).slice(0, shownOf(request))
}

/** Returns the number of rows that the page shows. */
const shownOf = ({ query }: ChartRequest): number => Number(query['top'] ?? 20)
const topOf = <Row>(rows: Row[]): List<Row> => ({ rows, isCut: rows.length >= TOP })

interface List<Row> {
  rows: Row[]
  /** True when there may be more rows: the values of rows that are not in the list are unknown. */
  isCut: boolean
}

interface Shown {
  name: readonly Name[]
  unit: Unit
  value: number
}

/** Returns the rows of last week in their order, and then those that only the week before has. */
function match<Row>(
  last: List<Row>,
  before: List<Row>,
  keyOf: (row: Row) => string,
  show: (row: Row) => Shown,
): Figure[] {
  const earlier = new Map(before.rows.map((row) => [keyOf(row), row]))
  const [noLast, noBefore] = [last, before].map(({ isCut }) => (isCut ? null : 0))
  const both = last.rows.map((row) => {
    const same = earlier.get(keyOf(row))
    earlier.delete(keyOf(row))
    const { name, unit, value } = show(row)
    return figure(name, unit, [same === undefined ? noBefore : show(same).value, value])
  })
  const gone = [...earlier.values()].map(show)
  return [...both, ...gone.map(({ name, unit, value }) => figure(name, unit, [value, noLast]))]
}

/** These figures exist only for the present. */
async function readEngagement({ query, ask }: ChartRequest): Promise<Figure[]> {
  const { contacts, inactive, median } = (await ask(query)) as ChartData<'engagement'>
  const now: [Word, number | null][] = [
    ['median', median],
    ['contacts', contacts],
    ['inactive', inactive],
  ]
  return now.map(([key, value]) => figure([word(key)], 'number', [null, value]))
}

const READERS: Record<ComputedKind, (request: ChartRequest) => Promise<Figure[]>> = {
  series: readSeries,
  funnel: readFunnel,
  retention: readRetention,
  lifecycle: readLifecycle,
  stages: readStages,
  revenue: readRevenue,
  cohorts: readCohorts,
  attribution: readAttribution,
  web: readTraffic,
  pages: readPages,
  sources: readSources,
  engagement: readEngagement,
}
