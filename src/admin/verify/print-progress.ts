import type { Screen } from '../progress-line.ts'
import type { RoundProgress } from './show-progress.ts'

const EVERY_MS = 1000

/** Prints the progress of a round for a program: lines of JSON, at most one per second. `total`: number of contacts. */
export function printProgress(screen: Screen, total: number, now = () => performance.now()): RoundProgress {
  let contacts = 0
  let writtenAt = -Infinity
  function write(activity: string): void {
    if (now() - writtenAt < EVERY_MS) return
    writtenAt = now()
    screen.write(`${JSON.stringify({ progress: { contacts, total, activity } })}\n`)
  }
  write('')
  return {
    advance(more) {
      contacts += more
      write('')
    },
    showStatus: write,
    end: () => undefined,
  }
}
