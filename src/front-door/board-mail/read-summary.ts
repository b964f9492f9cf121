/** Reads the figures of a chart of last week and of the week before, from the endpoint that the page reads. */
import type { Static } from '@sinclair/typebox'
import type { ChartKind } from '../../analytics/boards/board.ts'
import { addDays } from '../../rules/boards/mail-week.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import type { AttributionData, AttributionRow } from '../routes/analytics/attribution.ts'
import type {
  FunnelData,
  LifecycleData,
  RetentionData,
  RevenueCohortsData,
  RevenueData,
  SeriesData,
  StagesData,
} from '../routes/analytics/schemas.ts'
import type { EngagementData } from '../routes/analytics/engagement.ts'
import type { PagesData, SourcesData, TrafficData } from '../routes/analytics/web.ts'
import { type Figure, type Name, type Unit, type Word, text, word } from './summary.ts'

type Kind = Exclude<ChartKind, 'sql'>
type Query = Record<string, string>
/** Reads the endpoint of the chart. */
export type Ask = (query: Query) => Promise<object>

/** `week`: the date of the Monday after last week. All figures, the most important first. */
export function readFigures(kind: Kind, query: Query, week: string, ask: Ask): Promise<Figure[]> {
  return READERS[kind]({ query, week, ask })
}

interface Asked {
  query: Query
  week: string
  ask: Ask
}

interface ByWeek {
  weeks?: number
  others?: Query
}

/** The last weeks in one answer, as its intervals. */
async function askByWeek<Data>({ query, week, ask }: Asked, { weeks = 2, others = {} }: ByWeek = {}): Promise<Data> {
  const { compare: _, ...kept } = query
  return (await ask({ ...kept, ...others, interval: 'week', from: addDays(week, -7 * weeks), to: week })) as Data
}

const ONE_PERIOD = { periods: '1' }

/** Each week in an answer of its own. */
async function askTwice<Data>({ query, week, ask }: Asked): Promise<[last: Data, before: Data]> {
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

async function readSeries(asked: Asked): Promise<Figure[]> {
  const { series, formula } = await askByWeek<Static<typeof SeriesData>>(asked)
  const definitions = JSON.parse(asked.query['series'] ?? '[{}]') as SeriesDefinition[]
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
  return [figure([word('formula'), text(asked.query['formula'] ?? '')], 'number', formula.points), ...figures]
}

async function readFunnel(asked: Asked): Promise<Figure[]> {
  const [last, before] = await askTwice<Static<typeof FunnelData>>(asked)
  const ends = [before.steps.at(-1)?.conversion, last.steps.at(-1)?.conversion]
  const steps = last.steps.map(({ event, contacts }, at) => {
    const number = word('step', String(at + 1))
    return figure(event === null ? [number] : [number, text(event)], 'number', [before.steps[at]?.contacts, contacts])
  })
  return [figure([word('conversion')], 'share', ends), ...steps]
}

/** Of those who began in the week before, how many came back in the week. */
async function readRetention(asked: Asked): Promise<Figure[]> {
  const { cohorts } = await askByWeek<Static<typeof RetentionData>>(asked, { weeks: 3, others: ONE_PERIOD })
  const [first, second, third] = cohorts.slice(-3)
  const share = (cohort: typeof first) =>
    cohort === undefined || cohort.contacts === 0 ? null : (cohort.returned[1] ?? 0) / cohort.contacts
  return [
    figure([word('newContacts')], 'number', [second?.contacts, third?.contacts]),
    figure([word('cameBack')], 'share', [share(first), share(second)]),
  ]
}

async function readLifecycle(asked: Asked): Promise<Figure[]> {
  const { buckets } = await askByWeek<Static<typeof LifecycleData>>(asked)
  const weeks = buckets.slice(-2)
  return (['new', 'returning', 'resurrecting', 'dormant'] as const).map((key) =>
    figure(
      [word(key)],
      'number',
      weeks.map((one) => one[key]),
    ),
  )
}

/** How many are in a stage is known of now alone. */
async function readStages(asked: Asked): Promise<Figure[]> {
  const { stages, moves } = await askByWeek<Static<typeof StagesData>>(asked)
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

async function readRevenue(asked: Asked): Promise<Figure[]> {
  const { currencies } = await askByWeek<Static<typeof RevenueData>>(asked)
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

async function readCohorts(asked: Asked): Promise<Figure[]> {
  const { cohorts, currency } = await askByWeek<Static<typeof RevenueCohortsData>>(asked, { others: ONE_PERIOD })
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

/** Of a named event, how often it happened: it may bring no revenue. */
async function readAttribution(asked: Asked): Promise<Figure[]> {
  const [last, before] = await askTwice<Static<typeof AttributionData>>(asked)
  const ofEvent = asked.query['event'] !== undefined
  return match(listOf(last), listOf(before), keyOfTouch, (row) =>
    ofEvent
      ? { name: [text(nameOfTouch(row)), text(row.currency ?? '')], unit: 'number', value: row.conversions }
      : { name: [text(nameOfTouch(row))], unit: { money: row.currency }, value: row.revenue },
  )
}

const listOf = ({ rows, truncated }: Static<typeof AttributionData>): List<Touch> => ({ rows, isCut: truncated })

type Touch = Static<typeof AttributionRow>
const nameOfTouch = ({ channel, source, medium, campaign, landingPage }: Touch): string =>
  [channel, source, medium, campaign, landingPage].filter(Boolean).join(' · ') || '–'
const keyOfTouch = ({ channel, source, medium, campaign, landingPage, currency }: Touch): string =>
  JSON.stringify([channel, source, medium, campaign, landingPage, currency])

async function readTraffic(asked: Asked): Promise<Figure[]> {
  const { points } = await askByWeek<Static<typeof TrafficData>>(asked)
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

/** As many rows as the endpoint answers: a row of one week is looked for among those of the other. */
const TOP = 100

const askTop = <Data>({ query, ...asked }: Asked): Promise<[last: Data, before: Data]> =>
  askTwice<Data>({ ...asked, query: { ...query, top: String(TOP) } })

async function readPages(asked: Asked): Promise<Figure[]> {
  const [last, before] = await askTop<Static<typeof PagesData>>(asked)
  const show = ({ page, views }: (typeof last.pages)[number]) =>
    ({ name: [text(page)], unit: 'number', value: views }) as const
  return match(topOf(last.pages), topOf(before.pages), ({ page }) => page, show).slice(0, shownOf(asked))
}

async function readSources(asked: Asked): Promise<Figure[]> {
  const [last, before] = await askTop<Static<typeof SourcesData>>(asked)
  const show = ({ value, sessions }: (typeof last.sources)[number]) =>
    ({ name: [value === null ? word('noValue') : text(value)], unit: 'number', value: sessions }) as const
  const keyOf = ({ value }: (typeof last.sources)[number]) => JSON.stringify(value)
  return match(topOf(last.sources), topOf(before.sources), keyOf, show).slice(0, shownOf(asked))
}

/** The number of rows on the page. */
const shownOf = ({ query }: Asked): number => Number(query['top'] ?? 20)
const topOf = <Row>(rows: Row[]): List<Row> => ({ rows, isCut: rows.length >= TOP })

interface List<Row> {
  rows: Row[]
  /** There may be more: a row that is not in it is not known. */
  isCut: boolean
}

interface Shown {
  name: readonly Name[]
  unit: Unit
  value: number
}

/** Rows of last week, in their order, and then those of the week before that it does not have. */
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

/** Of now alone. */
async function readEngagement({ query, ask }: Asked): Promise<Figure[]> {
  const { contacts, inactive, median } = (await ask(query)) as Static<typeof EngagementData>
  const now: [Word, number | null][] = [
    ['median', median],
    ['contacts', contacts],
    ['inactive', inactive],
  ]
  return now.map(([key, value]) => figure([word(key)], 'number', [null, value]))
}

const READERS: Record<Kind, (asked: Asked) => Promise<Figure[]>> = {
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
