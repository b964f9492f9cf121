import { readStageMoves, readStages } from '../stages.ts'
import { INTERVALS } from '../buckets.ts'
import { type ChartStores, showBuckets } from './chart.ts'
import { type Parameters, MAX_BUCKETS, readBuckets, readCalendar, readPeriod } from './parameters.ts'

export function stagesChart(parameters: Parameters) {
  const calendar = readCalendar(parameters, INTERVALS, 'day')
  const buckets = readBuckets(parameters, readPeriod(parameters), calendar, MAX_BUCKETS)
  if (buckets === undefined) return undefined
  const { id } = parameters.business
  return async ({ openReader }: ChartStores) => {
    const read = openReader()
    return {
      ...showBuckets(buckets),
      ...calendar,
      stages: await readStages(read, id),
      moves: await readStageMoves(read, id, buckets),
    }
  }
}
