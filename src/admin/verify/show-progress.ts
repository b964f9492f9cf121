import { createProgressLine, describeRest, type Screen } from '../progress-line.ts'

/** The progress of a round. */
export interface RoundProgress {
  advance(contacts: number): void
  /** Shows a text next to the figures, such as what the command is waiting for. */
  showStatus(text: string): void
  end(): void
}

export function showProgress(screen: Screen, total: number, now = () => performance.now()): RoundProgress {
  const startedAt = now()
  const progressLine = createProgressLine(screen, now)
  let done = 0
  const figures = () => describe(done, total, (now() - startedAt) / 1000)
  return {
    advance(contacts) {
      done += contacts
      progressLine.draw(figures())
    },
    showStatus: (text) => progressLine.draw(`${figures()}  ${text}`),
    end: () => progressLine.end(),
  }
}

/** A repair compares again afterwards. Beyond the total, the count starts again at 0. */
function describe(done: number, total: number, seconds: number): string {
  const here = total === 0 ? 0 : done - total * Math.floor(Math.max(0, done - 1) / total)
  const parts = [
    `${String(total === 0 ? 100 : Math.floor((here / total) * 100)).padStart(3)} %`,
    `${here} of ${total} contacts${done > total ? ', again' : ''}`,
    `${Math.round(done / Math.max(seconds, 0.001))}/s`,
    ...describeRest(total - here, done, seconds),
  ]
  return parts.join('  ')
}
