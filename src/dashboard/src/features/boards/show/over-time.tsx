/** Charts of figures over time. */
import { formatNumber, formatOnClock, formatPercent } from '../../../format.ts'
import { Chart } from '../../../parts/chart/chart.tsx'
import type { Series } from '../../../parts/chart/chart-props.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Interval, formatStart, shownTime, SmallTable } from '../../analytics/links.ts'
import { chartOf } from '../../data/links.ts'
import { nameOfRow } from './name-of-row.ts'
import type { ChartData, ShownChart } from './read-chart.ts'

const HEIGHT = 210
const MOST_LINES = 4
const MOST_ROWS = 100

interface Calendar {
  interval: Interval
  timezone: string
}

interface LinesProps extends Calendar {
  label: string
  starts: readonly string[]
  series: readonly Series[]
}

function Lines({ label, starts, interval, timezone, series }: LinesProps) {
  return (
    <Chart
      label={label}
      times={starts.map((start) => shownTime(start, interval, timezone))}
      starts={starts}
      series={series}
      height={HEIGHT}
      formatAt={formatStart(interval)}
    />
  )
}

interface ViewProps<Kind extends keyof ChartData> {
  chart: ShownChart
  data: ChartData[Kind]
}

interface Definition {
  measure?: 'count' | 'contacts' | 'revenue' | 'sum'
  events?: string[]
  property?: string
}

export function SeriesView({ chart, data }: ViewProps<'series'>) {
  const texts = textsOf('analytics')
  const { buckets, series, formula } = data
  const definitions = JSON.parse(chart.query['series'] ?? '[{}]') as Definition[]
  const lines = series.flatMap(({ points, rows, before, currency }, at) => {
    const { measure = 'count', events = [], property = '' } = definitions[at] ?? {}
    const name = measure === 'sum' ? texts.sumOf(property) : texts.measures[measure]
    const ofEvents = events.length === 0 ? name : `${name}: ${events.join(', ')}`
    const label = currency === null ? ofEvents : textsOf('boards').inCurrency(ofEvents, currency)
    if (rows.length > 0)
      return rows
        .slice(0, MOST_LINES)
        .map((row) => ({ label: nameOfRow(row, chart.query['breakdown']), values: row.points }))
    return [{ label, values: points }, ...(before === null ? [] : [{ label: texts.before, values: before.points }])]
  })
  const own = formula === null ? lines : [{ label: textsOf('boards').formula, values: formula.points }]
  return <Lines label={chart.title} starts={buckets} {...calendarOf(data)} series={own} />
}

export function RevenueView({ chart, data }: ViewProps<'revenue'>) {
  const texts = textsOf('analytics')
  const lines = data.currencies.slice(0, MOST_LINES).map(({ currency, points }) => ({
    label: textsOf('boards').inCurrency(texts.figures.net, currency ?? '–'),
    values: points.map(({ net }) => net),
  }))
  return <Lines label={chart.title} starts={data.buckets} {...calendarOf(data)} series={lines} />
}

export function LifecycleView({ chart, data }: ViewProps<'lifecycle'>) {
  const texts = textsOf('boards')
  const keys = ['new', 'returning', 'resurrecting', 'dormant'] as const
  const lines = keys.map((key) => ({ label: texts.lifecycle[key], values: data.buckets.map((one) => one[key]) }))
  const starts = data.buckets.map(({ start }) => start)
  return <Lines label={chart.title} starts={starts} {...calendarOf(data)} series={lines} />
}

export function TrafficView({ chart, data }: ViewProps<'web'>) {
  const texts = textsOf('boards')
  const keys = ['visitors', 'sessions', 'pageViews'] as const
  const lines = keys.map((key) => ({ label: texts.columns[key], values: data.points.map((one) => one[key]) }))
  return <Lines label={chart.title} starts={data.buckets} {...calendarOf(data)} series={lines} />
}

export function RetentionView({ chart, data: { curve, interval } }: ViewProps<'retention'>) {
  const texts = textsOf('analytics')
  const label = texts.returnedBy[interval as keyof typeof texts.returnedBy]
  return (
    <Chart
      label={chart.title}
      times={curve.map(({ period }) => period)}
      series={[{ label, values: curve.map(({ share }) => share) }]}
      height={HEIGHT}
      format={formatPercent}
      formatStep={formatNumber}
    />
  )
}

export function QueryView({ chart, data }: ViewProps<'sql'>) {
  const lines = chartOf(data)
  if (lines !== null)
    return (
      <Chart
        label={chart.title}
        times={lines.times}
        starts={lines.starts}
        series={lines.series}
        height={HEIGHT}
        formatAt={lines.hasClock ? formatOnClock.time : formatOnClock.day}
      />
    )
  const heads = data.columns.map(({ name }) => name)
  return <SmallTable label={chart.title} heads={heads} rows={data.rows.slice(0, MOST_ROWS)} />
}

const calendarOf = ({ interval, timezone }: { interval: string; timezone: string }): Calendar => ({
  interval: interval as Interval,
  timezone,
})
