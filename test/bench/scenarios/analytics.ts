import { insertBusiness } from '../../../src/businesses/businesses.ts'
import { insertKey } from '../../../src/businesses/keys.ts'
import { fillHistory } from '../analytics/fill-history.ts'
import { type ChartCost, measureCharts } from '../analytics/measure-charts.ts'
import { type Pressed, pressCharts } from '../analytics/press.ts'
import type { Bench } from '../bench.ts'
import { openPace } from './open-loop.ts'
import { CROWD } from './saturation.ts'
import { type Check, type Scenario, atMost, noError, rounded } from './scenario.ts'

const ANALYSTS = 10
const EVENTS_PER_CONTACT = 10
const MAX_SECONDS = { recent: 1, all: 3 }
const MAX_P99_MS = 500
const HOUR_MS = 3_600_000

export const analytics: Scenario = {
  name: 'analytics',
  title: 'charts of two years of events; ten analysts beside half the sustainable rate',
  async run(bench) {
    const { stack, length } = bench
    const callers = await bench.openCallers({ kind: 'typical', prefix: 'analysed-' })
    const rate = Math.round(
      (bench.found.saturation ?? (await bench.send([callers, { ...CROWD, seconds: length(3, 15) }])).rate) / 2,
    )
    await bench.send([callers, { ...openPace(rate), seconds: length(2, 20) }])
    const alone = await bench.send([callers, { ...openPace(rate), seconds: length(4, 30) }])
    const history = await openHistory(bench)
    const costs = await measureCharts({ ...history, url: stack.url, clickhouse: stack.own.clickhouse }, { repeats: 2 })
    const stopping = new AbortController()
    const pressing = pressCharts({ ...history, url: stack.url, analysts: ANALYSTS, signal: stopping.signal })
    const sending = bench.send([callers, { ...openPace(rate), seconds: length(4, 60) }])
    const beside = await sending.finally(() => stopping.abort())
    const pressed = await pressing
    return {
      checks: [
        ...costs.map(checkOf),
        atMost(
          `live p99 beside ${ANALYSTS} analysts, ${alone.load.latency.p99} ms without them`,
          beside.load.latency.p99,
          MAX_P99_MS,
          'ms',
        ),
        noError(alone.load),
        noError(beside.load),
      ],
      measured: { [`${rate.toLocaleString('en')}/s`]: alone, [`${rate.toLocaleString('en')}/s, analysts`]: beside },
      notes: [describe(pressed)],
    }
  },
}

/** Creates a separate business with the history. */
async function openHistory({ stack, sizes, length }: Bench): Promise<{ key: string; end: number }> {
  const { sql, clickhouse } = stack.own
  const events = sizes.events ?? length(100_000, 10_000_000)
  const end = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const businessId = await insertBusiness(sql, { name: 'History', currency: 'EUR', rateLimit: 1_000_000_000 })
  const { key } = await insertKey(sql, businessId, 'secret')
  await fillHistory(clickhouse, businessId, { events, contacts: Math.ceil(events / EVENTS_PER_CONTACT) }, end)
  return { key, end }
}

function checkOf({ chart, span, status, seconds, peakBytes, rowsRead }: ChartCost): Check {
  const time = chart.intervals === undefined ? '' : span === 'recent' ? ', 90 days' : ', all time'
  const limit = MAX_SECONDS[span]
  const failure = status === 200 ? '' : `, answered ${status}`
  return {
    goal: `${chart.name}${time}${chart.hasGoal ? ` ≤ ${limit} s` : ''}`,
    figure: `${rounded(seconds)} s, ${rounded(peakBytes / 2 ** 20)} MB, ${rounded(rowsRead / 1e6)} million rows${failure}`,
    met: chart.hasGoal ? status === 200 && seconds <= limit : null,
  }
}

function describe({ latency: { count, p50, p99, max }, answers }: Pressed): string {
  const outcomes = Object.entries(answers).map(([status, times]) => `${times} times ${status}`)
  return `${count} charts of ${ANALYSTS} analysts: p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms; ${outcomes.join(', ')}.`
}
