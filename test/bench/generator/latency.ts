import { type Histogram, build } from 'hdr-histogram-js'
import type { Latency } from './plan.ts'

const LARGEST_US = 3_600_000_000

/** Counts latencies in microseconds, with three significant digits. */
export function createHistogram(): Histogram {
  return build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: LARGEST_US,
    numberOfSignificantValueDigits: 3,
  })
}

export function record(histogram: Histogram, ms: number): void {
  histogram.recordValue(Math.min(Math.max(Math.round(ms * 1000), 1), LARGEST_US))
}

export function summarise(histogram: Histogram): Latency {
  const count = histogram.totalCount
  const ms = (us: number) => (count === 0 ? 0 : us / 1000)
  const at = (percentile: number) => ms(histogram.getValueAtPercentile(percentile))
  return {
    count,
    mean: count === 0 ? 0 : ms(histogram.mean),
    p50: at(50),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    max: ms(histogram.maxValue),
  }
}
