/** The charts that boards can show, by their kind. */
import type { ChartKind } from '../boards/board.ts'
import { attributionChart } from './attribution-chart.ts'
import type { Chart } from './chart.ts'
import { engagementChart } from './engagement-charts.ts'
import { funnelChart } from './funnel-charts.ts'
import { lifecycleChart, retentionChart } from './retention-charts.ts'
import { revenueChart, revenueCohortsChart } from './revenue-charts.ts'
import { seriesChart } from './series-chart.ts'
import { stagesChart } from './stages-chart.ts'
import { pagesChart, sourcesChart, trafficChart } from './web-charts.ts'

export const CHARTS = {
  series: seriesChart,
  funnel: funnelChart,
  retention: retentionChart,
  lifecycle: lifecycleChart,
  stages: stagesChart,
  revenue: revenueChart,
  cohorts: revenueCohortsChart,
  attribution: attributionChart,
  web: trafficChart,
  pages: pagesChart,
  sources: sourcesChart,
  engagement: engagementChart,
} satisfies Record<Exclude<ChartKind, 'sql'>, Chart<object>>

export type ComputedKind = keyof typeof CHARTS

export type ChartData<Kind extends ComputedKind> = Awaited<ReturnType<NonNullable<ReturnType<(typeof CHARTS)[Kind]>>>>
