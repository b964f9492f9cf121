import type { Traffic } from '../generator/traffic.ts'
import { compare } from './compare.ts'
import { type Scenario, atLeast, atMost, noError } from './scenario.ts'

/** Callers that each send as soon as they have their response. */
export const CROWD = { pace: { kind: 'closed' }, connections: 600 } as const

export const saturation: Scenario = {
  name: 'saturation',
  title: 'single `track`, closed loop, saturation',
  async run(bench) {
    const traffic: Traffic = { kind: 'typical', prefix: 'saturation-' }
    const callers = await bench.openCallers(traffic)
    const warm = await bench.send([callers, { ...CROWD, seconds: bench.length(1, 5) }])
    const measured = await bench.send([callers, { ...CROWD, seconds: bench.length(4, 60) }])
    bench.found.saturation = measured.rate
    const { load, cpuTotal } = measured
    return {
      checks: [
        atLeast('sustained', measured.rate, 12_000, 'answers/s'),
        atMost('p99', load.latency.p99, 120, 'ms'),
        atMost('CPU', cpuTotal, 130, 'µs an event'),
        noError(load),
      ],
      measured: { [`${CROWD.connections} callers`]: measured },
      ratio: await compare(bench, measured, traffic, { warmUp: warm.events, connections: CROWD.connections }),
    }
  },
}
