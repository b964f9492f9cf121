import { type Check, type Scenario, atLeast, noError, rounded } from './scenario.ts'

/** Fits into 32,768 bytes of compact JSON together with its name and quotes. */
const BYTES = 32_700
/** Accepted ratio to the maximum of the first half, because garbage collection varies. */
const FLAT = 1.25

export const largeProperties: Scenario = {
  name: 'large-properties',
  title: '32 KB properties',
  async run(bench) {
    const callers = await bench.openCallers({ kind: 'large', prefix: 'large-', bytes: BYTES })
    const options = { pace: { kind: 'closed' }, connections: 64 } as const
    await bench.send([callers, { ...options, seconds: bench.length(1, 10) }])
    const measured = await bench.send([callers, { ...options, seconds: bench.length(3, 60) }])
    return {
      checks: [
        atLeast('sustained', measured.rate, 1500, 'answers/s'),
        memoryFlat(measured.observed.services),
        noError(measured.load),
      ],
      measured: { '32 KB': measured },
    }
  },
}

/** Checks that the front door and the workers need no more memory in the second half than in the first. */
function memoryFlat(services: number[]): Check {
  const half = Math.ceil(services.length / 2)
  const [before, after] = [Math.max(...services.slice(0, half)), Math.max(...services.slice(half))]
  const megabytes = (bytes: number) => rounded(bytes / 2 ** 20)
  return {
    goal: 'memory flat',
    figure: `front door and workers at most ${megabytes(before)} MB in the first half, ${megabytes(after)} in the second`,
    met: after <= before * FLAT,
  }
}
