/** The consequences of a response for the data that was sent. */
export interface AnswerClass {
  /** Whether to send the data again later. */
  keep: boolean
  /** Whether the data may have caused the failure. */
  failed?: boolean
  /** Milliseconds during which nothing is sent. Without it, the sender chooses the delay. */
  pauseMs?: number
}

const SHORTEST_PAUSE_MS = 1_000
const DEFAULT_PAUSE_MS = 30_000
export const LONGEST_PAUSE_MS = 3_600_000

/**
 * `status`: 0 when there was no response. `retryAfter`: seconds; a page cannot read it unless the service exposes it.
 */
export function classifyAnswer(status: number, retryAfter: string | null): AnswerClass {
  if (status === 429 || status === 503) {
    const pauseMs = Number(retryAfter ?? Number.NaN) * 1000
    const pause = pauseMs >= 0 ? pauseMs : DEFAULT_PAUSE_MS
    return { keep: true, pauseMs: Math.min(Math.max(pause, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS) }
  }
  // 408: the network was too slow this time.
  return { keep: status === 0 || status === 408 || status >= 500, failed: status === 500 }
}

/** Returns a delay that doubles from one second to one minute. Half of it is random (`random` in [0, 1)). */
export function backOff(failures: number, random: number): number {
  return Math.min(1000 * 2 ** failures, 60_000) * (0.5 + random / 2)
}
