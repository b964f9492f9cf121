/** How far an import is, as a bar. */
import { createProgressLine, LINE_MS, type Screen } from '../progress-line.ts'
import type { Totals } from './position.ts'

export interface ProgressBar {
  update(totals: Totals): void
  say(text: string): void
  /** Why nothing moves, and for how long; told once every few seconds however many requests wait. */
  waiting(reason: string, waitMs: number): void
  end(): void
}

const WIDTH = 24

/** `settled`: rows that an earlier run settled; they do not count for the speed. */
export function createProgressBar(screen: Screen, rows: number, settled: number, now = Date.now): ProgressBar {
  const startedAt = now()
  const progressLine = createProgressLine(screen, now)
  let lastReportAt = -Infinity
  let line = ''
  return {
    update(totals) {
      line = describe(totals, rows, (totals.received - settled) / Math.max((now() - startedAt) / 1000, 0.001))
      progressLine.draw(line)
    },
    say: progressLine.drawNow,
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

function describe({ received, failed, deduped }: Totals, rows: number, perSecond: number): string {
  const share = rows === 0 ? 1 : received / rows
  const filled = Math.round(share * WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
  const left = perSecond > 0 ? `${Math.ceil((rows - received) / perSecond)} s left` : ''
  const parts = [
    `${bar} ${String(Math.floor(share * 100)).padStart(3)} %`,
    `${received} of ${rows} rows`,
    `${Math.round(perSecond)}/s`,
    ...(received < rows && left ? [left] : []),
    ...(deduped ? [`${deduped} known already`] : []),
    ...(failed ? [`${failed} failed`] : []),
  ]
  return parts.join('  ')
}
