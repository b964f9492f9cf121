import type { Logger } from '../log.ts'

const LINES_PER_SECOND = 100

/**
 * Returns a function that decides whether another log line of a kind may be written: at most 100 per second. A flood of
 * requests must not become a flood of log lines, which costs more than rejecting the requests and fills the disk.
 * Omitted lines are counted, and the count is logged before the next line.
 */
export function createLogThrottle(log: Logger, now: () => number): () => boolean {
  let endsAt = -Infinity
  let written = 0
  let leftOut = 0
  return () => {
    if (now() >= endsAt) {
      if (leftOut > 0) log.info({ leftOut }, 'more log lines of one kind were left out')
      endsAt = now() + 1000
      written = leftOut = 0
    }
    if (written === LINES_PER_SECOND) leftOut += 1
    else written += 1
    return leftOut === 0
  }
}
