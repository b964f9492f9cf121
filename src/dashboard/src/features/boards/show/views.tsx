import type { ReactNode } from 'react'
import {
  AttributionView,
  CohortsView,
  EngagementView,
  FunnelView,
  PagesView,
  SourcesView,
  StagesView,
} from './as-table.tsx'
import { LifecycleView, QueryView, RetentionView, RevenueView, SeriesView, TrafficView } from './over-time.tsx'
import type { ChartData, ShownChart } from './read-chart.ts'

type Views = { [Kind in keyof ChartData]: (props: { chart: ShownChart; data: ChartData[Kind] }) => ReactNode }

const VIEWS: Views = {
  series: SeriesView,
  funnel: FunnelView,
  retention: RetentionView,
  lifecycle: LifecycleView,
  stages: StagesView,
  revenue: RevenueView,
  cohorts: CohortsView,
  attribution: AttributionView,
  web: TrafficView,
  pages: PagesView,
  sources: SourcesView,
  engagement: EngagementView,
  sql: QueryView,
}

interface ChartViewProps {
  chart: ShownChart
  data: ChartData[keyof ChartData]
}

export function ChartView({ chart, data }: ChartViewProps) {
  const View = VIEWS[chart.kind] as (props: ChartViewProps) => ReactNode
  return <View chart={chart} data={data} />
}

const LISTS: Partial<Record<keyof ChartData, string>> = {
  retention: 'curve',
  revenue: 'currencies',
  cohorts: 'cohorts',
  attribution: 'rows',
  pages: 'pages',
  sources: 'sources',
  sql: 'rows',
}

/** True when there is no row to show. */
export function isEmpty({ kind }: ShownChart, data: object): boolean {
  const list = (data as Record<string, unknown>)[LISTS[kind] ?? '']
  return Array.isArray(list) && list.length === 0
}
