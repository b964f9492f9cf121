import type { Bench, Callers } from '../bench.ts'
import { type Clicks, openPeople } from '../click.ts'
import { MAX_MICROSECONDS, describeFigure, measureLive } from '../measure-live.ts'
import { measurePages } from '../measure-pages.ts'
import { openPace } from './open-loop.ts'
import { CROWD } from './saturation.ts'
import { type Scenario, atMost, noError } from './scenario.ts'

const PEOPLE = 10
const MAX_GROWTH = 2
const MAX_P99_MS = 500
const MAX_FIRST_MS = 1500
const MAX_CHANGE_MS = 100

export const dashboard: Scenario = {
  name: 'dashboard',
  title: 'ten people click in the dashboard beside half the sustainable rate',
  async run(bench) {
    const callers = await bench.openCallers({ kind: 'typical', prefix: 'clicked-' })
    const rate = Math.round((await sustainableRate(bench, callers)) / 2)
    const seconds = bench.length(4, 60)
    const businessId = callers.businessIds[0] ?? ''
    const { click, cookies } = await openPeople(bench.stack, businessId, PEOPLE)
    await bench.send([callers, { ...openPace(rate), seconds: bench.length(2, 20) }])
    const alone = await bench.send([callers, { ...openPace(rate), seconds }])
    const stopping = new AbortController()
    const clicking = click(stopping.signal)
    const sending = bench.send([callers, { ...openPace(rate), seconds }])
    const beside = await sending.finally(() => stopping.abort())
    const clicks = await clicking
    const pages = await measurePages(bench.stack.url, businessId, cookies[0] ?? '')
    const kept = await measureLive(bench.stack.stores.redisUrl, bench.length(2, 8))
    const [quiet, busy] = [alone.load.latency.p99, beside.load.latency.p99]
    return {
      checks: [
        atMost(`live p99, ${quiet} ms without them, grows`, busy / quiet, MAX_GROWTH, 'times'),
        atMost('live p99', busy, MAX_P99_MS, 'ms'),
        atMost('first page on a slow line', pages.firstMs, MAX_FIRST_MS, 'ms'),
        atMost('change of page, in the median', pages.changeMs.median, MAX_CHANGE_MS, 'ms'),
        ...kept.map((one) =>
          atMost(
            `keeping requests for the page, ${describeFigure(one)}`,
            one.microseconds,
            MAX_MICROSECONDS,
            'µs of CPU',
          ),
        ),
        noError(alone.load),
        noError(beside.load),
      ],
      measured: { [`${rate.toLocaleString('en')}/s`]: alone, [`${rate.toLocaleString('en')}/s, people click`]: beside },
      notes: [describe(clicks), `Change of page: p95 ${Math.round(pages.changeMs.p95)} ms.`],
    }
  },
}

/** The result of the saturation scenario, or a short measurement. */
async function sustainableRate(bench: Bench, callers: Callers): Promise<number> {
  if (bench.found.saturation !== undefined) return bench.found.saturation
  return (await bench.send([callers, { ...CROWD, seconds: bench.length(3, 15) }])).rate
}

function describe({ latency: { count, p50, p99, max }, answers }: Clicks): string {
  const others = Object.entries(answers).filter(([outcome]) => outcome !== '200')
  const refused = others.map(([outcome, times]) => ` ${times} times ${outcome}.`).join('')
  return `${count} calls of ${PEOPLE} people: p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms.${refused}`
}
