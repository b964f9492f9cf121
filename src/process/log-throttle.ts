import type { Logger } from '../log.ts'

const LINES_PER_SECOND = 100

/**
 * Says whether one more line of a kind may be written: 100 a second may. A flood of requests must not become a flood of
 * lines, which costs more than refusing them and fills the disk. Those left out are counted, and told before the next.
 */
export function createLogThrottle(log: Logger, now: () => number): () => boolean {
  let endsAt = -Infinity
  let written = 0
  let leftOut = 0
  return () => {
    if (now() >= endsAt) {
      if (leftOut > 0) log.info({ leftOut }, 'more lines of a kind were left out')
      endsAt = now() + 1000
      written = leftOut = 0
    }
    if (written === LINES_PER_SECOND) leftOut += 1
    else written += 1
    return leftOut === 0
  }
}
