/** Charts whose figures are a list. */
import { formatMoney, formatNumber, formatPercent } from '../../../format.ts'
import { Share } from '../../../parts/value/share.tsx'
import { textsOf } from '../../../texts/index.ts'
import { CohortTable, formatStart, nameOfStep, shownTime, SmallTable } from '../../analytics/links.ts'
import { nameOfStage } from './name-of-row.ts'
import type { ChartData, ShownChart } from './read-chart.ts'

const MOST_ROWS = 100

interface ViewProps<Kind extends keyof ChartData> {
  chart: ShownChart
  data: ChartData[Kind]
}

export function FunnelView({ chart, data: { steps } }: ViewProps<'funnel'>) {
  const { columns } = textsOf('boards')
  const rows = steps.map(({ event, contacts, conversion }, at) => [
    nameOfStep(event, at),
    formatNumber(contacts),
    conversion === null ? '–' : <Share share={conversion} />,
  ])
  return <SmallTable label={chart.title} heads={[columns.step, columns.contacts, columns.conversion]} rows={rows} />
}

export function StagesView({ chart, data: { stages } }: ViewProps<'stages'>) {
  const { columns } = textsOf('boards')
  const rows = stages.map(({ stage, contacts }) => [nameOfStage(stage), contacts] as const)
  return <Shares label={chart.title} head={columns.stage} rows={rows} />
}

export function EngagementView({ chart, data: { ranges } }: ViewProps<'engagement'>) {
  const { columns } = textsOf('boards')
  const rows = ranges.map(({ from, to, contacts }) => [`${formatNumber(from)}–${formatNumber(to)}`, contacts] as const)
  return <Shares label={chart.title} head={columns.score} rows={rows} />
}

/** Shares of all contacts in the rows. */
function Shares({ label, head, rows }: { label: string; head: string; rows: (readonly [string, number])[] }) {
  const { columns } = textsOf('boards')
  const total = rows.reduce((sum, [, contacts]) => sum + contacts, 0)
  const shown = rows.map(([name, contacts]) => [
    name,
    formatNumber(contacts),
    total === 0 ? '–' : <Share share={contacts / total} />,
  ])
  return <SmallTable label={label} heads={[head, columns.contacts, columns.share]} rows={shown} />
}

export function AttributionView({ chart, data }: ViewProps<'attribution'>) {
  const { columns } = textsOf('boards')
  const rows = data.rows
    .slice(0, MOST_ROWS)
    .map(({ channel, source, medium, campaign, landingPage, currency, revenue, orders }) => [
      [channel, source, medium, campaign, landingPage].filter(Boolean).join(' · ') || '–',
      currency === null ? formatNumber(revenue) : formatMoney(revenue, currency),
      formatNumber(orders),
    ])
  return <SmallTable label={chart.title} heads={[columns.source, columns.revenue, columns.orders]} rows={rows} />
}

export function PagesView({ chart, data: { pages } }: ViewProps<'pages'>) {
  const { columns } = textsOf('boards')
  const rows = pages.map(({ page, views, visitors }) => [page, formatNumber(views), formatNumber(visitors)])
  return <SmallTable label={chart.title} heads={[columns.page, columns.views, columns.visitors]} rows={rows} />
}

export function SourcesView({ chart, data: { sources } }: ViewProps<'sources'>) {
  const { columns } = textsOf('boards')
  const rows = sources.map(({ value, sessions, visitors }) => [
    value ?? textsOf('analytics').noValue,
    formatNumber(sessions),
    formatNumber(visitors),
  ])
  return <SmallTable label={chart.title} heads={[columns.source, columns.sessions, columns.visitors]} rows={rows} />
}

/** Shades each cell by its share of the greatest value. */
export function CohortsView({ chart, data }: ViewProps<'cohorts'>) {
  const texts = textsOf('analytics')
  const { cohorts, interval, timezone, currency } = data
  const greatest = Math.max(0, ...cohorts.flatMap(({ lifetimeValue }) => lifetimeValue.map((value) => value ?? 0)))
  const format = formatStart(interval)
  return (
    <CohortTable
      label={chart.title}
      heads={[texts.figures.customers, texts.figures.repeatRate]}
      cohorts={cohorts.map(({ start, customers, repeatRate, lifetimeValue }) => ({
        name: format(new Date(shownTime(start, interval, timezone) * 1000)),
        facts: [formatNumber(customers), repeatRate === null ? '–' : formatPercent(repeatRate)],
        cells: lifetimeValue.map((value) => ({
          text: value === null ? '–' : formatMoney(value, currency),
          share: value === null || greatest === 0 ? null : value / greatest,
        })),
      }))}
    />
  )
}
