import type { Measured } from '../measure.ts'
import { openPace } from './open-loop.ts'
import { type Point, type Scenario, rounded } from './scenario.ts'

const RATES = {
  quick: [500, 2000, 4000, 8000],
  full: [500, 1000, 2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 14_000],
}
/** The series ends with a rate that is not sustained to this extent. */
const KEPT = 0.95

export const latencyByRate: Scenario = {
  name: 'latency-by-rate',
  title: 'latency against offered rate',
  async run(bench) {
    const callers = await bench.openCallers({ kind: 'typical', prefix: 'rate-' })
    const measured: Record<string, Measured> = {}
    const points: Point[] = []
    for (const rate of bench.quick ? RATES.quick : RATES.full) {
      const at = await bench.send([callers, { ...openPace(rate), seconds: bench.length(2, 10) }])
      measured[`${rate.toLocaleString('en')}/s`] = at
      const { p50, p99, p999 } = at.load.latency
      points.push({ rate, p50, p99, p999 })
      if (at.rate < rate * KEPT) break
    }
    const kept = points.filter(({ rate }) => (measured[`${rate.toLocaleString('en')}/s`]?.rate ?? 0) >= rate * KEPT)
    return {
      checks: [{ goal: 'the plot', figure: `kept up to ${rounded(kept.at(-1)?.rate ?? 0)}/s`, met: null }],
      measured,
      points,
    }
  },
}
