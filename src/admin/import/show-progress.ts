/** The progress bar of an import. */
import { createProgressLine, describeRest, LINE_MS, type Screen } from '../progress-line.ts'
import type { Totals } from './position.ts'

export interface ProgressBar {
  update(totals: Totals): void
  showStatus(text: string): void
  /** Shows the reason and length of a wait, at most once every few seconds for any number of requests. */
  waiting(reason: string, waitMs: number): void
  end(): void
}

const WIDTH = 24

/** `earlier`: rows that an earlier run sent. They do not count for the speed. */
export function createProgressBar(screen: Screen, rows: number, earlier: number, now = Date.now): ProgressBar {
  const startedAt = now()
  const progressLine = createProgressLine(screen, now)
  let lastReportAt = -Infinity
  let line = ''
  return {
    update(totals) {
      line = describe(totals, rows, earlier, (now() - startedAt) / 1000)
      progressLine.draw(line)
    },
    showStatus: progressLine.drawNow,
    waiting(reason, waitMs) {
      if (now() - lastReportAt < LINE_MS) return
      lastReportAt = now()
      const text = `waiting ${Math.ceil(waitMs / 1000)} s: ${reason}`
      progressLine.drawNow(screen.isTTY && line ? `${line}  ${text}` : text)
    },
    end() {
      if (line) progressLine.end(line)
    },
  }
}

function describe({ received, failed, deduped }: Totals, rows: number, earlier: number, seconds: number): string {
  const share = rows === 0 ? 1 : received / rows
  const filled = Math.round(share * WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  const done = received - earlier
  const parts = [
    `${bar} ${String(Math.floor(share * 100)).padStart(3)} %`,
    `${received} of ${rows} rows`,
    `${Math.round(done / Math.max(seconds, 0.001))}/s`,
    ...describeRest(rows - received, done, seconds),
    ...(deduped ? [`${deduped} already known`] : []),
    ...(failed ? [`${failed} failed`] : []),
  ]
  return parts.join('  ')
}
