import type { Bench } from '../bench.ts'
import type { Traffic } from '../generator/traffic.ts'
import type { Measured } from '../measure.ts'
import type { Ratio } from './scenario.ts'

/** Measures the ceilings for the same traffic, in groups of the size that the pipeline has just achieved. */
export async function compare(
  bench: Bench,
  { cpuTotal, groups }: Measured,
  traffic: Traffic,
  { warmUp, connections }: { warmUp: number; connections: number },
): Promise<Ratio> {
  const ground = await bench.ceilings()
  const events = bench.length(10_000, 100_000)
  const ceilings = await ground.measure(traffic, groups, { events, warmUp: Math.min(warmUp, 2 * events), connections })
  return { value: cpuTotal / ceilings.sum, pipeline: cpuTotal, ceilings }
}
