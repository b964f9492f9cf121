import { WEEK_MS, readMovers } from '../engagement-movers.ts'
import { readEngagementScores } from '../engagement.ts'
import { type ChartStores, toIso } from './chart.ts'
import type { Parameters } from './parameters.ts'
import { readTop } from './web-charts.ts'

export const engagementChart =
  ({ business }: Parameters) =>
  ({ openReader }: ChartStores) =>
    readEngagementScores(openReader(), business.id)

/** The contacts whose engagement changed most. */
export function moversChart(parameters: Parameters) {
  const top = readTop(parameters)
  const { now, business } = parameters
  return async ({ openReader }: ChartStores) => {
    const found = await readMovers(openReader(), business.id, { now, top })
    return { from: toIso(now - WEEK_MS), to: toIso(now), ...found }
  }
}
