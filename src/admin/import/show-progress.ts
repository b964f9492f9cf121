/** A bar that redraws itself on a terminal, a line every few seconds elsewhere. */
import type { Totals } from './position.ts'

export interface ProgressBar {
  update(totals: Totals): void
  say(text: string): void
  /** Why nothing moves, and for how long; told once every few seconds however many requests wait. */
  waiting(reason: string, waitMs: number): void
  end(): void
}

interface Screen {
  isTTY?: boolean
  write(text: string): unknown
}

const WIDTH = 24
const REDRAW_MS = 100
const LINE_MS = 5000

/** `settled`: rows that an earlier run settled; they do not count for the speed. */
export function createProgressBar(screen: Screen, rows: number, settled: number, now = Date.now): ProgressBar {
  const startedAt = now()
  let drawnAt = screen.isTTY ? 0 : startedAt
  let waitToldAt = -Infinity
  let line = ''
  const draw = (text: string): void => void screen.write(screen.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
  return {
    update(totals) {
      line = describe(totals, rows, (totals.received - settled) / Math.max((now() - startedAt) / 1000, 0.001))
      if (now() - drawnAt < (screen.isTTY ? REDRAW_MS : LINE_MS)) return
      drawnAt = now()
      draw(line)
    },
    say: draw,
    waiting(reason, waitMs) {
      if (now() - waitToldAt < LINE_MS) return
      waitToldAt = now()
      const text = `waiting ${Math.ceil(waitMs / 1000)} s: ${reason}`
      draw(screen.isTTY && line ? `${line}  ${text}` : text)
    },
    end() {
      if (screen.isTTY && line) screen.write(`\r\x1b[K${line}\n`)
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
