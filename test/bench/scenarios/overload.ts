import type { Bench } from '../bench.ts'
import type { LoadResult, Traced } from '../generator/plan.ts'
import { CROWD } from './saturation.ts'
import { type Scenario, atLeast, atMost, rounded } from './scenario.ts'

/** More than a front door accepts at a time (MAX_IN_FLIGHT), so that it must refuse some. */
const CONNECTIONS = 12_000
/** A caller that sends throughout, in addition to the crowd. */
const PROBE = { pace: { kind: 'open', rate: 50 }, connections: 200, trace: true } as const
/** A request is served well when it is answered with 200 within this many milliseconds. */
const WELL_MS = 100

export const overload: Scenario = {
  name: 'overload',
  title: 'twice the saturation rate for 60 s',
  async run(bench) {
    const saturated = bench.found.saturation ?? (await findSaturation(bench))
    const seconds = bench.length(4, 60)
    const crowd = await bench.openCallers({ kind: 'typical', prefix: 'overload-' })
    const probe = await bench.openCallers({ kind: 'typical', prefix: 'probe-' })
    const measured = await bench.send(
      [crowd, { pace: { kind: 'open', rate: saturated * 2 }, connections: CONNECTIONS, seconds, dropLate: true }],
      [probe, { ...PROBE, seconds: seconds + bench.length(7, 15) }],
    )
    const [load, probed] = measured.loads
    if (!load || !probed) throw new Error('A load is missing')
    return {
      checks: [
        atLeast('goodput', (100 * load.inTime) / load.seconds / saturated, 90, '% of saturation'),
        load.refusals.count === 0
          ? { goal: 'refusals under 10 ms', figure: 'none was refused', met: null }
          : atMost('refusals p99', load.refusals.p99, 10, 'ms'),
        atMost('recovery (nine in ten served well)', recoverySeconds(load, probed), 5, 's'),
      ],
      measured: { 'twice the saturation': measured },
      notes: [
        `Answers ${JSON.stringify(load.answers)}; sent late by p99 ${rounded(load.lateness.p99)} ms, since ${CONNECTIONS.toLocaleString('en')} connections were busy.`,
      ],
    }
  },
}

async function findSaturation(bench: Bench): Promise<number> {
  const callers = await bench.openCallers({ kind: 'typical', prefix: 'before-' })
  return (await bench.send([callers, { ...CROWD, seconds: bench.length(3, 10) }])).rate
}

/**
 * Returns the seconds from the end of the crowd until the end of the last second in which more than one request in ten
 * was not served well. A single brief stall, which also happens without an overload, does not count.
 */
export function recoverySeconds(crowd: LoadResult, probed: LoadResult): number {
  const end = crowd.startedAt + crowd.seconds * 1000
  const after = probed.trace.filter(([, dueAt]) => dueAt >= end)
  const bySecond = Map.groupBy(after, ([, dueAt]) => Math.floor((dueAt - end) / 1000))
  const isBad = ([, , took, status]: Traced) => status !== 200 || took > WELL_MS
  const bad = [...bySecond].filter(([, those]) => those.filter(isBad).length > those.length / 10)
  return Math.max(0, ...bad.map(([second]) => second + 1))
}
