/** What an answer means for what was sent. */
export interface AnswerClass {
  /** Sent again later. */
  keep: boolean
  /** It may be the fault of what was sent. */
  failed?: boolean
  /** Nothing at all is sent for so long; when it is not said, the sender backs off by itself. */
  pauseMs?: number
}

const SHORTEST_PAUSE_MS = 1_000
const DEFAULT_PAUSE_MS = 30_000
export const LONGEST_PAUSE_MS = 3_600_000

/** `status` 0: no answer came. `retryAfter` in seconds; a page cannot see it when the service does not expose it. */
export function classifyAnswer(status: number, retryAfter: string | null): AnswerClass {
  if (status === 429 || status === 503) {
    const pauseMs = Number(retryAfter ?? Number.NaN) * 1000
    const pause = pauseMs >= 0 ? pauseMs : DEFAULT_PAUSE_MS
    return { keep: true, pauseMs: Math.min(Math.max(pause, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS) }
  }
  // 408: the network was too slow this time.
  return { keep: status === 0 || status === 408 || status >= 500, failed: status === 500 }
}

/** Doubling from one second to one minute, with half of it left to chance (`random` in [0, 1)). */
export function backOff(failures: number, random: number): number {
  return Math.min(1000 * 2 ** failures, 60_000) * (0.5 + random / 2)
}
