import { type Check, type Scenario, atMost, noError } from './scenario.ts'
import type { Latency } from '../generator/plan.ts'

export const track1000 = openLoop('track-1000', 1000, (latency) => [
  atMost('p50', latency.p50, 3, 'ms'),
  atMost('p99', latency.p99, 15, 'ms'),
])

export const track4000 = openLoop('track-4000', 4000, (latency) => [atMost('p99', latency.p99, 50, 'ms')])

/** Small numbers of events use other code paths than large ones. After the warm-up the runtimes have compiled those. */
const WARM_UP_S = { quick: 1, full: 20 }

/**
 * Sends at a fixed rate, regardless of responses. There are connections for far more requests than should wait at a
 * time, but each is used at least every four seconds, because the server ends one that is idle for fifteen, perhaps
 * just as it sends.
 */
export const openPace = (rate: number) =>
  ({
    pace: { kind: 'open', rate },
    connections: Math.min(2000, Math.max(Math.min(100, rate * 4), Math.ceil(rate / 4))),
  }) as const

function openLoop(name: string, rate: number, check: (latency: Latency) => Check[]): Scenario {
  return {
    name,
    title: `single \`track\`, open loop ${rate.toLocaleString('en')}/s`,
    async run(bench) {
      const callers = await bench.openCallers({ kind: 'typical', prefix: `${name}-` })
      const warm = await bench.send([
        callers,
        { ...openPace(rate), seconds: bench.length(WARM_UP_S.quick, WARM_UP_S.full) },
      ])
      const measured = await bench.send([callers, { ...openPace(rate), seconds: bench.length(3, 60) }])
      return {
        checks: [...check(measured.load.latency), noError(warm.load), noError(measured.load)],
        measured: { [`${rate.toLocaleString('en')}/s`]: measured },
      }
    },
  }
}
