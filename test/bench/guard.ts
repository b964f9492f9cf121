/**
 * The check for CI: the ratio of the pipeline's CPU to that of its ceilings, which depends neither on the speed of the
 * machine nor on other users. Measures both sides alternately, several times.
 */
import { readFile } from 'node:fs/promises'
import type { Bench } from './bench.ts'
import type { Traffic } from './generator/traffic.ts'
import { compare } from './scenarios/compare.ts'
import { CROWD } from './scenarios/saturation.ts'

const ROUNDS = 3
const SECONDS = 3
/** Accepted deviation of the median, because the rounds are few and short, and others use the machine. */
const TOLERANCE = 0.4

export interface Verdict {
  ratios: number[]
  median: number
  /** The recorded figure (guard.json). */
  kept: number
  passed: boolean
  advice: string
}

export async function guard(bench: Bench, say: (text: string) => void): Promise<Verdict> {
  const traffic: Traffic = { kind: 'typical', prefix: 'guard-' }
  const callers = await bench.openCallers(traffic)
  const ratios: number[] = []
  let sent = 0
  for (let round = 1; round <= ROUNDS; round += 1) {
    const measured = await bench.send([callers, { ...CROWD, seconds: SECONDS }])
    sent += measured.load.sent
    const ratio = await compare(bench, measured, traffic, { warmUp: sent, connections: CROWD.connections })
    ratios.push(ratio.value)
    say(`round ${round}: ${ratio.pipeline.toFixed(0)} µs an event, ${ratio.value.toFixed(2)} times the ceilings`)
  }
  return judge(ratios, await readKept())
}

async function readKept(): Promise<number> {
  const kept = JSON.parse(await readFile(new URL('guard.json', import.meta.url), 'utf8')) as { ratio: number }
  return kept.ratio
}

/** Fails when the median is more than 40 % above the recorded figure. */
export function judge(ratios: number[], kept: number): Verdict {
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? Infinity
  const passed = median <= kept * (1 + TOLERANCE)
  return { ratios, median, kept, passed, advice: advise(median, kept, passed) }
}

function advise(median: number, kept: number, passed: boolean): string {
  const figures = `The pipeline spends ${median.toFixed(2)} times the CPU of its ceilings; ${kept} is kept in test/bench/guard.json.`
  if (!passed)
    return `${figures} Find out what became dearer: \`bun run bench --scenario saturation\` lists the CPU by process.`
  return median < kept * (1 - TOLERANCE / 2) ? `${figures} It became cheaper: keep the lower figure there.` : figures
}
