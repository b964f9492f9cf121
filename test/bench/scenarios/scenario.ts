import type { Bench } from '../bench.ts'
import type { Ceilings } from '../ceilings/measure-ceilings.ts'
import type { Measured } from '../measure.ts'

export interface Scenario {
  name: string
  title: string
  /** Whether it runs before the others, while the product is freshly started, or on its own product. */
  cold?: boolean
  run(bench: Bench): Promise<Outcome>
}

export interface Outcome {
  checks: Check[]
  /** Measurements by load. */
  measured?: Record<string, Measured>
  /** Ratio to the ceilings, if they were measured for the same events. */
  ratio?: Ratio
  notes?: string[]
  /** Points of the plot. */
  points?: Point[]
}

/** A goal, the measured figure, and whether it meets the goal; null when this run cannot decide it. */
export interface Check {
  goal: string
  figure: string
  met: boolean | null
}

export interface Ratio {
  /** The pipeline's CPU per event divided by the sum of the ceilings. */
  value: number
  pipeline: number
  ceilings: Ceilings
}

/** Latencies in milliseconds at an offered rate. */
export interface Point {
  rate: number
  p50: number
  p99: number
  p999: number
}

export const atMost = (what: string, figure: number, limit: number, unit: string): Check => ({
  goal: `${what} ≤ ${limit} ${unit}`,
  figure: `${rounded(figure)} ${unit}`,
  met: figure <= limit,
})

export const atLeast = (what: string, figure: number, limit: number, unit: string): Check => ({
  goal: `${what} ≥ ${limit.toLocaleString('en')} ${unit}`,
  figure: `${rounded(figure)} ${unit}`,
  met: figure >= limit,
})

export const noError = ({ answers, sent }: Measured['load']): Check => ({
  goal: 'no error',
  figure: `${sent - (answers['200'] ?? 0)} of ${sent.toLocaleString('en')} not answered with 200`,
  met: answers['200'] === sent,
})

/** Formats a number with the digits that matter to a reader. */
export function rounded(figure: number): string {
  if (!Number.isFinite(figure)) return '-'
  const digits = Math.abs(figure) >= 100 ? 0 : Math.abs(figure) >= 10 ? 1 : 2
  return figure.toLocaleString('en', { maximumFractionDigits: digits })
}
