/** Counts responses and their latencies. */
import { createHistogram, record, summarise } from './latency.ts'
import type { LoadResult, Traced } from './plan.ts'

export interface Tally {
  sent(lateness: number): void
  /** `dueAt` and `at`: milliseconds since the start. */
  answered(n: number, status: number, dueAt: number, at: number): void
  /** Counts requests without a response. */
  lost(how: 'broken' | 'unanswered', count: number): void
  result(seconds: number): Omit<LoadResult, 'cpuUs'>
}

/** `startedAt`: epoch milliseconds. */
export function createTally(startedAt: number, { sendsMs, trace }: { sendsMs: number; trace: boolean }): Tally {
  const histograms = { latency: createHistogram(), refusals: createHistogram(), lateness: createHistogram() }
  const answers: Record<string, number> = {}
  const bySecond: number[] = []
  const traced: Traced[] = []
  let sent = 0
  let inTime = 0
  const count = (what: string | number, by: number) => (answers[what] = (answers[what] ?? 0) + by)

  return {
    sent(lateness) {
      sent += 1
      record(histograms.lateness, lateness)
    },
    answered(n, status, dueAt, at) {
      const took = at - dueAt
      count(status, 1)
      record(status === 200 ? histograms.latency : histograms.refusals, took)
      if (trace) traced.push([n, startedAt + dueAt, took, status])
      if (status !== 200 || at > sendsMs) return
      inTime += 1
      const second = Math.floor(at / 1000)
      bySecond[second] = (bySecond[second] ?? 0) + 1
    },
    lost: (how, times) => void count(how, times),
    result: (seconds) => ({
      startedAt,
      sent,
      answers,
      seconds,
      inTime,
      bySecond: Array.from(bySecond, (times) => times ?? 0),
      latency: summarise(histograms.latency),
      refusals: summarise(histograms.refusals),
      lateness: summarise(histograms.lateness),
      trace: traced,
    }),
  }
}
