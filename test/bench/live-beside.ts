/** Measures the latency of live callers at a fixed rate: alone, and beside other work of the product. */
import type { Bench } from './bench.ts'
import { createHistogram, record, summarise } from './generator/latency.ts'
import type { Latency, LoadResult } from './generator/plan.ts'
import { openPace } from './scenarios/open-loop.ts'

/** Live events per second. */
export const RATE = 400
const PEOPLE = 2000

/** Two instants in epoch milliseconds. */
export type Span = readonly [from: number, until: number]

export interface ReadyWork<Work> {
  /** Seconds for which the callers send. */
  seconds: number
  /** Starts the work, and resolves when it is done. The callers start at the same time. */
  go(): Promise<Work>
  /** When the work was done. Requests outside do not count. Without it, all count. */
  spanOf?(work: Work): Span
}

export interface LiveBeside<Work> {
  alone: LoadResult
  beside: LoadResult
  /** Latency of the requests that were due during the work. */
  during: Latency
  work: Work
}

export async function measureLiveBeside<Work>(
  bench: Bench,
  prefix: string,
  prepare: () => Promise<ReadyWork<Work>>,
): Promise<LiveBeside<Work>> {
  const callers = await bench.openCallers({ kind: 'known', prefix, people: PEOPLE })
  const send = (seconds: number) => bench.send([callers, { ...openPace(RATE), seconds, trace: true }])
  await send(bench.length(1, 10))
  const { load: alone } = await send(bench.length(3, 30))
  const ready = await prepare()
  const [work, { load: beside }] = await Promise.all([ready.go(), send(ready.seconds)])
  const span = ready.spanOf?.(work)
  if (span && !(beside.trace.some(([, at]) => at < span[0]) && beside.trace.some(([, at]) => at >= span[1])))
    throw new Error('The live events do not cover the time that is measured')
  return { alone, beside, during: span ? latencyWithin(beside, span) : beside.latency, work }
}

/** Returns the latency of the requests that were due in this span and answered with 200. */
export function latencyWithin({ trace }: Pick<LoadResult, 'trace'>, [from, until]: Span): Latency {
  const histogram = createHistogram()
  for (const [, dueAt, latency, status] of trace)
    if (status === 200 && dueAt >= from && dueAt < until) record(histogram, latency)
  return summarise(histogram)
}
