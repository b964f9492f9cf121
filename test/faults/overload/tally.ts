import { createHistogram, record, summarise } from '../../bench/generator/latency.ts'
import { OUTCOME, type Outcome, type OverloadResult } from './plan.ts'

export interface OverloadTally {
  /** `n` counts from 0. `answer`: the complete response. */
  answered(n: number, status: number, answer: Buffer, tookMs: number): void
  /** The connection ended before the answer. */
  broken(n: number): void
  outcomes: Uint8Array
  result(seconds: number, sent: number): OverloadResult
}

/** Uses one byte per request and histograms of fixed size, so its memory stays small. */
export function createOverloadTally(most: number): OverloadTally {
  const outcomes = new Uint8Array(most)
  const histograms = { accepted: createHistogram(), refused: createHistogram() }
  let withoutRetryAfter = 0
  return {
    outcomes,
    answered(n, status, answer, tookMs) {
      outcomes[n] = outcomeOf(status, answer)
      record(status < 300 ? histograms.accepted : histograms.refused, tookMs)
      if (status === 503 && !hasRetryAfter(answer)) withoutRetryAfter += 1
    },
    broken: (n) => void (outcomes[n] = OUTCOME.unknown),
    result(seconds, sent) {
      // A request that was sent and has no outcome was never answered.
      for (let n = 0; n < sent; n += 1) outcomes[n] ||= OUTCOME.unknown
      return {
        seconds,
        sent,
        counts: countOutcomes(outcomes.subarray(0, sent)),
        withoutRetryAfter,
        accepted: summarise(histograms.accepted),
        refused: summarise(histograms.refused),
      }
    },
  }
}

function outcomeOf(status: number, answer: Buffer): Outcome {
  if (status === 200) return OUTCOME.answered
  if (status === 202) return OUTCOME.queued
  if (status === 503) return answer.includes('"code":"unavailable"') ? OUTCOME.refused : OUTCOME.unknown
  return OUTCOME.rejected
}

const hasRetryAfter = (answer: Buffer): boolean =>
  /\r\nretry-after: \d+\r\n/i.test(answer.toString('latin1', 0, answer.indexOf('\r\n\r\n') + 2))

function countOutcomes(outcomes: Uint8Array): OverloadResult['counts'] {
  const totals = new Map<number, number>()
  for (const outcome of outcomes) totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
  const named = Object.entries(OUTCOME).map(([name, outcome]) => [name, totals.get(outcome) ?? 0])
  return Object.fromEntries(named) as OverloadResult['counts']
}
