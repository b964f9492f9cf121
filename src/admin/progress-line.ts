/** The progress of a command: one line that is redrawn on a terminal; elsewhere a new line every few seconds. */
export interface Screen {
  isTTY?: boolean
  write(text: string): unknown
}

export interface ProgressLine {
  /** Draws, unless it drew a moment ago. */
  draw(text: string): void
  drawNow(text: string): void
  /** On a terminal, replaces the line by `text`, or clears it. */
  end(text?: string): void
}

const REDRAW_MS = 100
/** Interval between two lines without a terminal, in ms. */
export const LINE_MS = 5000

/** `now`: a clock in ms. */
export function createProgressLine(screen: Screen, now: () => number): ProgressLine {
  const everyMs = screen.isTTY ? REDRAW_MS : LINE_MS
  let drawnAt = screen.isTTY ? -Infinity : now()
  const drawNow = (text: string): void => void screen.write(screen.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
  return {
    drawNow,
    draw(text) {
      if (now() - drawnAt < everyMs) return
      drawnAt = now()
      drawNow(text)
    },
    end(text = '') {
      if (screen.isTTY) screen.write(`\r\x1b[K${text}${text && '\n'}`)
    },
  }
}
