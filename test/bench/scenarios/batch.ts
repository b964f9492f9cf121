import { type Traffic, eventsIn } from '../generator/traffic.ts'
import { compare } from './compare.ts'
import { type Scenario, atMost, noError } from './scenario.ts'

const MILLION = 1_000_000
const WARM_UP = 10_000
const PARALLEL = { pace: { kind: 'closed' }, connections: 8, seconds: 600 } as const

export const batch: Scenario = {
  name: 'batch',
  title: '`track/batch`, 1 million events by 500, 8 parallel',
  async run(bench) {
    const traffic: Traffic = { kind: 'batch', prefix: 'batch-', size: 500 }
    const callers = await bench.openCallers(traffic)
    const events = bench.length(60_000, MILLION)
    await bench.send([callers, { ...PARALLEL, requests: WARM_UP / eventsIn(traffic) }])
    const measured = await bench.send([callers, { ...PARALLEL, requests: events / eventsIn(traffic) }])
    const { load, settleSeconds, cpuTotal } = measured
    return {
      checks: [
        atMost('until visible', (load.seconds + settleSeconds) * (MILLION / events), 60, 's a million'),
        atMost('CPU', cpuTotal, 80, 'µs an event'),
        noError(load),
      ],
      measured: { [`${events.toLocaleString('en')} events`]: measured },
      ratio: await compare(bench, measured, traffic, { warmUp: WARM_UP, connections: PARALLEL.connections }),
    }
  },
}
